// SPDX-License-Identifier: Apache-2.0
// Reservation: move-only bytes taken from a Ledger and charged to a tenant and a purpose. What is reserved is given
// back when the reservation goes, so that no account can drift.
// Errors:   reserve: kResourceExhausted with the arithmetic.
// Bounds:   the ledger's capacity; one row per tenant and purpose in use.
// Threads:  any. A reservation must not outlive its ledger.    Units: bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/base/result.h"

namespace larder::storage {

class Ledger;

class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  std::uint64_t bytes() const { return bytes_; }
  TenantId tenant() const { return tenant_; }
  const std::string& purpose() const { return purpose_; }
  // Gives back all but `bytes`. Requires: bytes <= bytes().
  void shrink(std::uint64_t bytes);

 private:
  friend class Ledger;
  Reservation(Ledger* ledger, TenantId tenant, std::string purpose, std::uint64_t bytes)
      : ledger_(ledger), tenant_(tenant), purpose_(std::move(purpose)), bytes_(bytes) {}

  Ledger* ledger_ = nullptr;
  TenantId tenant_{};
  std::string purpose_;
  std::uint64_t bytes_ = 0;
};

class Ledger {
 public:
  struct Row {
    TenantId tenant{};
    std::string purpose;
    std::uint64_t bytes = 0;
  };

  explicit Ledger(std::uint64_t capacity) : capacity_(capacity) {}

  Result<Reservation> reserve(TenantId tenant, std::string_view purpose, std::uint64_t bytes) EXCLUDES(mutex_);
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const EXCLUDES(mutex_);
  std::vector<Row> rows() const EXCLUDES(mutex_);  // their sum is used()

 private:
  friend class Reservation;
  void give_back(TenantId tenant, const std::string& purpose, std::uint64_t bytes) EXCLUDES(mutex_);

  const std::uint64_t capacity_;
  mutable Mutex mutex_;
  std::uint64_t used_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<TenantId, std::string>, std::uint64_t> rows_ GUARDED_BY(mutex_);
};

}  // namespace larder::storage
