// SPDX-License-Identifier: Apache-2.0
#include "storage/reservation.h"

namespace larder::storage {

Reservation::Reservation(Reservation&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      tenant_(other.tenant_),
      purpose_(std::move(other.purpose_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  shrink(0);
  ledger_ = std::exchange(other.ledger_, nullptr);
  tenant_ = other.tenant_;
  purpose_ = std::move(other.purpose_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

Reservation::~Reservation() { shrink(0); }

void Reservation::shrink(std::uint64_t bytes) {
  INVARIANT(bytes <= bytes_);
  if (ledger_ != nullptr && bytes < bytes_) ledger_->give_back(tenant_, purpose_, bytes_ - bytes);
  bytes_ = bytes;
}

Result<Reservation> Ledger::reserve(TenantId tenant, std::string_view purpose, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  const std::uint64_t left = capacity_ - used_;
  if (bytes > left) {
    return Error{ErrorCode::kResourceExhausted,
                 std::to_string(bytes) + " bytes for " + std::string(purpose) +
                     " do not fit: " + std::to_string(used_) + " of " + std::to_string(capacity_) + " are taken, " +
                     std::to_string(left) + " are left",
                 {}};
  }
  Reservation reservation(this, tenant, std::string(purpose), bytes);
  used_ += bytes;
  if (bytes > 0) rows_[{tenant, reservation.purpose_}] += bytes;
  return reservation;
}

void Ledger::give_back(TenantId tenant, const std::string& purpose, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  const auto row = rows_.find({tenant, purpose});
  INVARIANT(bytes <= used_ && row != rows_.end() && bytes <= row->second);
  used_ -= bytes;
  row->second -= bytes;
  if (row->second == 0) rows_.erase(row);
}

std::uint64_t Ledger::used() const {
  MutexLock lock(mutex_);
  return used_;
}

std::vector<Ledger::Row> Ledger::rows() const {
  MutexLock lock(mutex_);
  std::vector<Row> rows;
  for (const auto& [who, bytes] : rows_) rows.push_back({who.first, who.second, bytes});
  return rows;
}

}  // namespace larder::storage
