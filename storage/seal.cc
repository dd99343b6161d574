// SPDX-License-Identifier: Apache-2.0
#include "storage/seal.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>

#include "runtime/base/invariant.h"

namespace larder::storage {
namespace {

static_assert(kWrapOverhead ==
              crypto_aead_xchacha20poly1305_ietf_NPUBBYTES + crypto_aead_xchacha20poly1305_ietf_ABYTES);
constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;

// Safe to call often and from any thread; without it the random source is not opened.
void start_library() { INVARIANT(sodium_init() >= 0); }

const unsigned char* octets(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }
unsigned char* octets(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace

void random_bytes(std::span<std::uint8_t> out) {
  start_library();
  randombytes_buf(out.data(), out.size());
}

Digest256 hash256(std::span<const std::uint8_t> data) {
  Digest256 digest;
  crypto_generichash(digest.data(), digest.size(), data.data(), data.size(), nullptr, 0);
  return digest;
}

Digest256 keyed_hash(const SealKey& key, std::span<const std::uint8_t> data) {
  Digest256 digest;
  crypto_generichash(digest.data(), digest.size(), data.data(), data.size(), key.data(), key.size());
  return digest;
}

SealKey derive_key(const SealKey& master, std::string_view purpose) {
  std::vector<std::uint8_t> message{'k', 'e', 'y', ' '};
  message.insert(message.end(), purpose.begin(), purpose.end());
  return keyed_hash(master, message);
}

std::vector<std::uint8_t> wrap(const SealKey& key, std::span<const std::uint8_t> plain,
                               std::span<const std::uint8_t> associated) {
  std::vector<std::uint8_t> wrapped(plain.size() + kWrapOverhead);
  random_bytes({wrapped.data(), kNonce});
  unsigned long long written = 0;
  crypto_aead_xchacha20poly1305_ietf_encrypt(wrapped.data() + kNonce, &written, plain.data(), plain.size(),
                                             associated.data(), associated.size(), nullptr, wrapped.data(), key.data());
  INVARIANT(written + kNonce == wrapped.size());
  return wrapped;
}

Result<std::vector<std::uint8_t>> unwrap(const SealKey& key, std::span<const std::uint8_t> wrapped,
                                         std::span<const std::uint8_t> associated) {
  if (wrapped.size() < kWrapOverhead) return Error{ErrorCode::kCorrupt, "a wrapped secret is too short", {}};
  std::vector<std::uint8_t> plain(wrapped.size() - kWrapOverhead);
  unsigned long long written = 0;
  const int opened = crypto_aead_xchacha20poly1305_ietf_decrypt(
      plain.data(), &written, nullptr, wrapped.data() + kNonce, wrapped.size() - kNonce, associated.data(),
      associated.size(), wrapped.data(), key.data());
  if (opened != 0) return Error{ErrorCode::kCorrupt, "a wrapped secret was altered or belongs to another key", {}};
  return plain;
}

bool equal_constant_time(const Digest256& a, const Digest256& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Cipher fastest_cipher() {
  start_library();
  return crypto_aead_aes256gcm_is_available() == 1 ? Cipher::kAes256Gcm : Cipher::kXChaCha20Poly1305;
}

CipherKey::~CipherKey() { wipe(key_); }

class SealStream::Machine {
 public:
  virtual ~Machine() = default;
  virtual bool ok() const { return true; }
  virtual void update(const std::byte* in, std::byte* out, std::size_t size) = 0;
  virtual SealTag finish() = 0;
  virtual bool opened_whole(const SealTag& tag) = 0;
};

class SealStream::AesGcm final : public Machine {
 public:
  AesGcm(Direction direction, const CipherKey& key, const SealNonce& nonce, std::span<const std::uint8_t> associated)
      : context_(EVP_CIPHER_CTX_new()) {
    const int sealing = direction == Direction::kSeal ? 1 : 0;
    int taken = 0;
    ok_ = context_ != nullptr &&
          EVP_CipherInit_ex(context_, EVP_aes_256_gcm(), nullptr, key.key().data(), nonce.data(), sealing) == 1 &&
          EVP_CipherUpdate(context_, nullptr, &taken, associated.data(), static_cast<int>(associated.size())) == 1;
  }
  ~AesGcm() override { EVP_CIPHER_CTX_free(context_); }
  AesGcm(const AesGcm&) = delete;
  AesGcm& operator=(const AesGcm&) = delete;
  bool ok() const override { return ok_; }

  void update(const std::byte* in, std::byte* out, std::size_t size) override {
    constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // lengths are int there
    for (std::size_t at = 0; at < size; at += kAtOnce) {
      const auto now = static_cast<int>(std::min(kAtOnce, size - at));
      int made = 0;
      INVARIANT(EVP_CipherUpdate(context_, octets(out + at), &made, octets(in + at), now) == 1 && made == now);
    }
  }

  SealTag finish() override {
    SealTag tag;
    int made = 0;
    INVARIANT(EVP_CipherFinal_ex(context_, tag.data(), &made) == 1 && made == 0);
    INVARIANT(EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag.size()), tag.data()) == 1);
    return tag;
  }

  bool opened_whole(const SealTag& tag) override {
    SealTag wanted = tag;
    unsigned char none[16];
    int made = 0;
    return EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(wanted.size()), wanted.data()) == 1 &&
           EVP_CipherFinal_ex(context_, none, &made) == 1;
  }

 private:
  EVP_CIPHER_CTX* context_;
  bool ok_ = false;
};

// The library's one-shot construction, opened up so that a message may come in pieces: key stream block 0 keys the
// authenticator, the message begins at block 1.
class SealStream::XChaCha final : public Machine {
 public:
  XChaCha(Direction direction, const CipherKey& key, const SealNonce& nonce, std::span<const std::uint8_t> associated)
      : sealing_(direction == Direction::kSeal), key_(key.key()), nonce_(nonce), associated_size_(associated.size()) {
    start_library();
    Bytes<64> first{};
    crypto_stream_xchacha20_xor_ic(first.data(), first.data(), first.size(), nonce_.data(), 0, key_.data());
    crypto_onetimeauth_poly1305_init(&authenticator_, first.data());
    wipe(first);
    authenticate(associated.data(), associated.size());
    pad(associated.size());
  }
  ~XChaCha() override {
    wipe(key_);
    sodium_memzero(&authenticator_, sizeof authenticator_);
  }

  void update(const std::byte* in, std::byte* out, std::size_t size) override {
    INVARIANT(size_ % 64 == 0);
    if (!sealing_) authenticate(octets(in), size);
    crypto_stream_xchacha20_xor_ic(octets(out), octets(in), size, nonce_.data(), 1 + size_ / 64, key_.data());
    if (sealing_) authenticate(octets(out), size);
    size_ += size;
  }

  SealTag finish() override {
    pad(size_);
    const std::uint64_t sizes[2] = {associated_size_, size_};
    authenticate(reinterpret_cast<const unsigned char*>(sizes), sizeof sizes);
    SealTag tag;
    crypto_onetimeauth_poly1305_final(&authenticator_, tag.data());
    return tag;
  }

  bool opened_whole(const SealTag& tag) override {
    const SealTag made = finish();
    return sodium_memcmp(made.data(), tag.data(), tag.size()) == 0;
  }

 private:
  void authenticate(const unsigned char* bytes, std::size_t size) {
    crypto_onetimeauth_poly1305_update(&authenticator_, bytes, size);
  }
  void pad(std::uint64_t size) {
    const unsigned char zeros[16] = {};
    authenticate(zeros, (16 - size % 16) % 16);
  }

  const bool sealing_;
  SealKey key_;
  const SealNonce nonce_;
  crypto_onetimeauth_poly1305_state authenticator_;
  const std::uint64_t associated_size_;
  std::uint64_t size_ = 0;
};

SealStream::SealStream(Direction direction, const CipherKey& key, const SealNonce& nonce,
                       std::span<const std::uint8_t> associated) {
  if (key.cipher() == Cipher::kAes256Gcm) {
    machine_ = std::make_unique<AesGcm>(direction, key, nonce, associated);
  } else {
    machine_ = std::make_unique<XChaCha>(direction, key, nonce, associated);
  }
}

SealStream::~SealStream() = default;

bool SealStream::ok() const { return machine_->ok(); }

void SealStream::update(std::span<const std::byte> in, std::span<std::byte> out) {
  INVARIANT(in.size() == out.size());
  machine_->update(in.data(), out.data(), in.size());
}

SealTag SealStream::finish() { return machine_->finish(); }

bool SealStream::opened_whole(const SealTag& tag) { return machine_->opened_whole(tag); }

void wipe(std::span<std::uint8_t> secret) { sodium_memzero(secret.data(), secret.size()); }

}  // namespace larder::storage
