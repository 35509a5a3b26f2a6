// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/bridge.hpp"

#include <exception>

#include "agent/log.hpp"
#include "base/clock.hpp"
#include "collector/ingest/limited_log.hpp"

namespace pcp::trace::agent {

namespace {

// Set by the process's one Bridge.
Metrics* metrics = nullptr;
StoreRequests* stores = nullptr;

// Rate-limited, because monitors can repeat a failing request as often as they like.
void log_failure(const char* why) {
  static LimitedLog log(log_error);
  log.say(std::string("cannot answer a request of pmcd: ") + why, steady_now());
}

// No exception may reach libpcp_pmda, which is C: pmcd gets an error for this request.
template <typename Function>
int guarded(Function function) {
  try {
    return function();
  } catch (const std::exception& failure) {
    log_failure(failure.what());
    return PM_ERR_GENERIC;
  }
}

int on_fetch(int count, pmID* pmids, pmapi::AgentResult** result, pmdaExt* ext) {
  return guarded([&] {
    stores->monitors().set_asking(ext->e_context);
    *result = metrics->fetch(pmids, static_cast<std::size_t>(count), ext->e_prof, steady_now());
    if (metrics->labels_changed()) pmdaExtSetFlags(ext, PMDA_EXT_LABEL_CHANGE);
    return 0;
  });
}

void on_result_sent(pmapi::AgentResult*) { metrics->release(); }

int on_instance(pmInDom indom, int number, char* name, pmInResult** result, pmdaExt*) {
  return guarded([&] { return metrics->instances(indom, number, name, result, steady_now()); });
}

int on_text(int identifier, int type, char** text, pmdaExt*) {
  // The cast is safe: libpcp_pmda neither writes to the text nor frees it.
  return guarded([&] { return metrics->text(identifier, type, const_cast<const char**>(text)); });
}

int on_label(int identifier, int type, pmLabelSet** sets, pmdaExt*) {
  return guarded([&] { return metrics->labels(identifier, type, sets, steady_now()); });
}

int on_store(pmapi::AgentResult* values, pmdaExt* ext) {
  return guarded([&] { return stores->store(*values, ext->e_context, steady_now()); });
}

int on_attribute(int context, int attribute, const char* value, int, pmdaExt*) {
  return guarded([&] {
    const char* const text = value ? value : "";
    if (attribute == PMDA_ATTR_USERID) stores->privileges().note_user(context, text);
    if (attribute == PMDA_ATTR_PROCESSID) stores->privileges().note_process(context, text);
    return 0;
  });
}

void on_end_of_context(int context) {
  stores->privileges().forget(context);
  stores->monitors().forget(context);
}

}  // namespace

Bridge::Bridge(int domain, const std::string& log) : log_(log) {
  pmdaDaemon(&interface_, PMDA_INTERFACE_7, pmGetProgname(), domain, log_.c_str(), nullptr);
  pmdaOpenLog(&interface_);
}

bool Bridge::connect(Metrics& the_metrics, StoreRequests& the_stores) {
  metrics = &the_metrics;
  stores = &the_stores;
  auto& callbacks = interface_.version.seven;
  callbacks.fetch = on_fetch;
  callbacks.instance = on_instance;
  callbacks.text = on_text;
  callbacks.label = on_label;
  callbacks.store = on_store;
  callbacks.attribute = on_attribute;
  pmdaSetResultCallBack(&interface_, on_result_sent);
  pmdaSetEndContextCallBack(&interface_, on_end_of_context);
  pmdaSetCommFlags(&interface_, PMDA_FLAG_AUTHORIZE);  // asks pmcd for the users of its clients

  fill_tables();
  pmdaInit(&interface_, indoms_.data(), static_cast<int>(indoms_.size()), metrics_.data(),
           static_cast<int>(metrics_.size()));
  pmdaConnect(&interface_);
  return interface_.status == 0;
}

void Bridge::fill_tables() {
  for (std::size_t serial = 0; serial < indoms_.size(); ++serial) {
    indoms_[serial].it_indom = static_cast<pmInDom>(serial);
  }
  for (const Metric& metric : metrics->table()) {
    const pmInDom indom = metric.indom == kNoIndom ? PM_INDOM_NULL : metric.indom;
    metrics_.push_back({nullptr,
                        {PMDA_PMID(metric.cluster, metric.item), metric.type(), indom,
                         metric.semantics, metric.units}});
  }
}

int Bridge::descriptor() { return __pmdaInFd(&interface_); }

bool Bridge::serve_one() { return __pmdaMainPDU(&interface_) >= 0; }

}  // namespace pcp::trace::agent
