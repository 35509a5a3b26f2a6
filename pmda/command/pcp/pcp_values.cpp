// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/pcp_values.hpp"

#include <array>
#include <charconv>

namespace pcp::trace::command {

namespace {

// Calls take(instance, value) for each value of a metric, converted to the type `wanted`.
template <typename Take>
void read_all(const char* name, int wanted, Take take) {
  pmID id = lookup(name);
  pmDesc description{};
  if (id == PM_ID_NULL || pmLookupDesc(id, &description) < 0) return;
  pmResult* read = nullptr;
  if (pmFetch(1, &id, &read) < 0) return;
  const OwnedResult result(read, pmFreeResult);
  const pmValueSet& set = *result->vset[0];
  for (int i = 0; i < set.numval; ++i) {
    pmAtomValue value{};
    if (pmExtractValue(set.valfmt, &set.vlist[i], description.type, &value, wanted) >= 0)
      take(set.vlist[i].inst, value);
  }
}

void add_name(const char* name, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
}

// Decodes a JSON string, for the escapes that our agent and `record` use.
std::string unescaped(std::string_view json) {
  constexpr std::string_view kByNumber = "\\u00";
  std::string text;
  while (!json.empty()) {
    std::size_t length = json.starts_with('\\') && json.size() > 1 ? 2 : 1;
    char c = json[length - 1];
    if (json.starts_with(kByNumber) && json.size() >= kByNumber.size() + 2) {
      length = kByNumber.size() + 2;
      std::from_chars(json.begin() + kByNumber.size(), json.begin() + length, c, 16);
    }
    text += c;
    json.remove_prefix(length);
  }
  return text;
}

}  // namespace

Error pcp_error(const std::string& what, int status) {
  std::array<char, PM_MAXERRMSGLEN> text{};
  return {what + ": " + pmErrStr_r(status, text.data(), static_cast<int>(text.size()))};
}

pmID lookup(const char* name) {
  pmID id = PM_ID_NULL;
  return pmLookupName(1, &name, &id) < 0 ? PM_ID_NULL : id;
}

int add_names_below(const char* name, std::vector<std::string>& names) {
  return pmTraversePMNS_r(name, add_name, &names);
}

std::string help_text_of(unsigned type, unsigned of) {
  char* text = nullptr;
  const auto length = static_cast<int>(type & (PM_TEXT_ONELINE | PM_TEXT_HELP));
  const int status = (type & PM_TEXT_INDOM) != 0 ? pmLookupInDomText(of, length, &text)
                                                 : pmLookupText(of, length, &text);
  if (status < 0) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
  return text;
}

std::string host_name_of(int context) {
  std::array<char, 256> name{};
  return pmGetContextHostName_r(context, name.data(), static_cast<int>(name.size()));
}

double read_number(const char* name) {
  double number = 0;
  read_all(name, PM_TYPE_DOUBLE, [&](int, const pmAtomValue& value) { number = value.d; });
  return number;
}

std::optional<double> double_of(const pmValueSet& set) {
  pmAtomValue value{};
  if (set.numval != 1 ||
      pmExtractValue(set.valfmt, &set.vlist[0], PM_TYPE_DOUBLE, &value, PM_TYPE_DOUBLE) < 0)
    return {};
  return value.d;
}

std::optional<std::uint32_t> u32_of(const pmValueSet& set) {
  if (set.numval != 1 || set.valfmt != PM_VAL_INSITU) return {};
  return static_cast<std::uint32_t>(set.vlist[0].value.lval);
}

std::optional<std::string> text_of(const pmValueSet& set) {
  pmAtomValue value{};
  if (set.numval != 1 ||
      pmExtractValue(set.valfmt, &set.vlist[0], PM_TYPE_STRING, &value, PM_TYPE_STRING) < 0)
    return {};
  const std::unique_ptr<char, void (*)(void*)> owned(value.cp, std::free);
  return value.cp;
}

std::map<int, double> read_numbers_of(const char* name) {
  std::map<int, double> numbers;
  read_all(name, PM_TYPE_DOUBLE,
           [&](int instance, const pmAtomValue& value) { numbers[instance] = value.d; });
  return numbers;
}

std::map<int, std::string> read_texts_of(const char* name) {
  std::map<int, std::string> texts;
  read_all(name, PM_TYPE_STRING, [&](int instance, const pmAtomValue& value) {
    texts[instance] = value.cp;
    std::free(value.cp);
  });
  return texts;
}

Instances instances_of(const char* name) {
  const pmID id = lookup(name);
  pmDesc description{};
  if (id == PM_ID_NULL || pmLookupDesc(id, &description) < 0) return {};
  return instances_by(pmGetInDom, description.indom);
}

std::string label_of(const pmLabelSet& set, std::string_view name) {
  for (int i = 0; i < set.nlabels; ++i) {
    const pmLabel& label = set.labels[i];
    if (std::string_view(set.json + label.name, label.namelen) != name) continue;
    std::string_view value(set.json + label.value, label.valuelen);
    return value.starts_with('"') ? unescaped(value.substr(1, value.size() - 2))
                                  : std::string(value);
  }
  return "";
}

}  // namespace pcp::trace::command
