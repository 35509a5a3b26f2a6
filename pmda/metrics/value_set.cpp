// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/value_set.hpp"

#include <cstring>
#include <new>

namespace pcp::trace::agent {

namespace {

// The size of a value's block; 0 if the value is stored in the list itself.
std::size_t block_bytes(int type) {
  switch (type) {
    case PM_TYPE_FLOAT:
      return PM_VAL_HDR_SIZE + sizeof(float);
    case PM_TYPE_U64:
    case PM_TYPE_DOUBLE:
      return PM_VAL_HDR_SIZE + sizeof(double);
    default:
      return 0;
  }
}

}  // namespace

ValueSet::ValueSet(pmID pmid, int type, std::size_t capacity)
    : type_(type),
      capacity_(capacity),
      memory_(new char[sizeof(pmValueSet) + capacity * sizeof(pmValue)]),
      blocks_(new char[capacity * block_bytes(type)]),
      set_(new (memory_.get()) pmValueSet{}) {
  set_->pmid = pmid;
  set_->valfmt = type == PM_TYPE_32 || type == PM_TYPE_U32 ? PM_VAL_INSITU : PM_VAL_DPTR;
}

ValueSet ValueSet::failed(pmID pmid, int error) {
  ValueSet set(pmid, PM_TYPE_32, 0);
  set.set_->numval = error;
  return set;
}

void ValueSet::add(int instance, const pmAtomValue& value) {
  if (static_cast<std::size_t>(set_->numval) == capacity_) return;
  // Addressed by offset, because the declared list has only one element.
  char* const address = memory_.get() + offsetof(pmValueSet, vlist) +
                        static_cast<std::size_t>(set_->numval) * sizeof(pmValue);
  pmValue* const entry = new (address) pmValue{};
  entry->inst = instance;
  if (set_->valfmt == PM_VAL_INSITU) {
    entry->value.lval = value.l;
  } else if (type_ == PM_TYPE_STRING) {
    entry->value.pval = make_own_block(value.cp, std::strlen(value.cp) + 1);
  } else if (type_ == PM_TYPE_EVENT) {
    const char* const array = reinterpret_cast<const char*>(value.vbp);
    entry->value.pval =
        make_own_block(array + PM_VAL_HDR_SIZE, value.vbp->vlen - std::size_t{PM_VAL_HDR_SIZE});
  } else {
    entry->value.pval =
        make_block(blocks_.get() + used_, &value, block_bytes(type_) - PM_VAL_HDR_SIZE);
    used_ += block_bytes(type_);
  }
  ++set_->numval;
}

// Allocates the block separately.
pmValueBlock* ValueSet::make_own_block(const void* value, std::size_t bytes) {
  strings_.push_back(
      std::make_unique<char[]>(PM_VAL_HDR_SIZE + (bytes + 3) / 4 * 4));  // whole words
  return make_block(strings_.back().get(), value, bytes);
}

pmValueBlock* ValueSet::make_block(char* address, const void* value, std::size_t bytes) const {
  // Built locally and copied: setting a bit field would first load the rest from distant memory.
  pmValueBlock header{};
  header.vtype = static_cast<unsigned char>(type_);
  header.vlen = (PM_VAL_HDR_SIZE + bytes) & PM_VAL_VLEN_MAX;
  auto* const block = new (address) pmValueBlock;
  std::memcpy(address, &header, PM_VAL_HDR_SIZE);
  std::memcpy(address + PM_VAL_HDR_SIZE, value, bytes);
  return block;
}

void FetchResult::begin(std::size_t metrics) {
  sets_ = std::vector<ValueSet>(metrics);
  memory_.reset(new char[sizeof(pmapi::AgentResult) + metrics * sizeof(pmValueSet*)]);
  result_ = new (memory_.get()) pmapi::AgentResult{};
  result_->numpmid = static_cast<int>(metrics);
}

ValueSet& FetchResult::put(std::size_t index, ValueSet set) {
  sets_[index] = std::move(set);
  pmValueSet* const values = sets_[index].get();
  std::memcpy(memory_.get() + offsetof(pmapi::AgentResult, vset) + index * sizeof(pmValueSet*),
              &values, sizeof(pmValueSet*));
  return sets_[index];
}

}  // namespace pcp::trace::agent
