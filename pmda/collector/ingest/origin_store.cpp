// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/origin_store.hpp"

#include <utility>

#include "wire/label_name.hpp"

namespace pcp::trace::agent {

namespace {

// So three users can use their whole limit.
constexpr std::size_t kUsers = 3;

std::size_t bytes_of(const LabelText& labels) {
  constexpr std::size_t kAround = 200;  // the object, its owner's name, heap overhead
  return kAround + labels.members().size() + labels.labels().size() * sizeof(LabelText::Label);
}

}  // namespace

std::shared_ptr<const Origin> OriginStore::make(const wire::Hello& hello, const std::string& owner,
                                                std::uint32_t pid) {
  Origin origin{owner, pid, {}};
  if (!hello.service.empty() && !origin.labels.add("service", hello.service)) tally(refused_);
  for (const auto& [name, value] : hello.labels) {
    const bool allowed = is_label_name(name) && !is_reserved_label(name);
    if (!allowed || !origin.labels.add(name, value)) tally(refused_);
  }

  const std::size_t labels = origin.labels.labels().size();
  if (auto kept = keep(origin, bytes_of(origin.labels), owner)) return kept;
  tally(refused_, labels);
  return std::make_shared<const Origin>(Origin{owner, pid, {}});
}

std::shared_ptr<const LabelText> OriginStore::describe(std::string_view unit,
                                                       std::string_view description,
                                                       const std::string& owner) {
  LabelText labels;
  if (!unit.empty()) labels.add("unit", unit, wire::kMaxUnitLength);
  if (!description.empty()) labels.add("description", description, wire::kMaxDescriptionLength);
  const std::size_t bytes = bytes_of(labels);
  auto kept = keep(std::move(labels), bytes, owner);
  if (kept == nullptr) tally(refused_);
  return kept;
}

template <typename Kept>
std::shared_ptr<const Kept> OriginStore::keep(Kept kept, std::size_t bytes,
                                              const std::string& owner) {
  if (of_users_.size() >= most_users_) {
    std::erase_if(of_users_, [](const auto& user) { return *user.second == 0; });
    most_users_ = 2 * of_users_.size() + kFewUsers;
  }
  std::shared_ptr<Bytes>& of_user = of_users_[owner];
  if (of_user == nullptr) of_user = std::make_shared<Bytes>(0);
  if (*of_user + bytes > options_.max_kept_label_bytes ||
      *all_ + bytes > kUsers * options_.max_kept_label_bytes)
    return nullptr;
  *of_user += bytes;
  *all_ += bytes;
  return {new Kept(std::move(kept)), [bytes, all = all_, of_user = of_user](const Kept* gone) {
            delete gone;
            *of_user -= bytes;
            *all -= bytes;
          }};
}

}  // namespace pcp::trace::agent
