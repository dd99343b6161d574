// SPDX-License-Identifier: Apache-2.0
// Matrix times rows. With few x rows, weights are decoded piece by piece into L1 and used at once. With many, a panel
// of weight rows is decoded once and swept by strips of x rows. F32 weights are read where they lie.

constexpr std::size_t kPanelBytes = 256 * 1024;  // a panel stays in L2
constexpr std::uint32_t kPanelRows = 64;
constexpr std::uint32_t kFewRows = 8;      // weight rows of a step with few x rows
constexpr std::uint32_t kFewCols = 512;    // and the columns decoded at a time: a multiple of every format's block
constexpr std::uint32_t kPieceCols = 768;  // a longer sum is made in pieces, so that a strip of x stays in L1
constexpr std::size_t kStateFloats = std::size_t{16} * kPanelRows * kTileM;

// Floats between panel rows: a whole number of chunks, and not a multiple of 4 KiB, which would crowd one cache set.
inline std::size_t panel_stride(std::size_t cols) {
  const std::size_t chunks = (cols + 15) / 16;
  return (chunks % 64 == 0 ? chunks + 1 : chunks) * 16;
}

inline std::uint32_t panel_rows(std::size_t cols) {
  const std::size_t fit = kPanelBytes / (panel_stride(cols) * sizeof(float));
  if (fit <= kFewRows) return kFewRows;
  return fit >= kPanelRows ? kPanelRows : static_cast<std::uint32_t>(fit & ~std::size_t{7});
}

std::size_t matmul_scratch_bytes(std::uint32_t max_cols) {
  const std::size_t least = kFewRows * panel_stride(std::size_t{max_cols} + 16) * sizeof(float);
  return kStateFloats * sizeof(float) + (least > kPanelBytes ? least : kPanelBytes);
}

inline std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

// The whole of K when weights need no decoding or fit, else pieces of kFewCols.
void matmul_few(const MatmulArgs& a) {
  const WeightTypeInfo info = weight_type_info(a.w.type);
  const std::size_t row_bytes = a.w.row_bytes();
  const bool direct = a.w.type == WeightType::kF32;
  const std::uint32_t piece = direct ? a.w.cols : kFewCols;
  const std::size_t stride = direct ? a.w.cols : panel_stride(kFewCols);
  float* state = reinterpret_cast<float*>(a.scratch);
  float* panel = state + kStateFloats;
  for (std::uint32_t n = a.n_begin; n < a.n_end; n += kFewRows) {
    const std::uint32_t count = smaller(a.n_end - n, kFewRows);
    std::uint32_t k = 0;
    do {
      const std::uint32_t cols = smaller(a.w.cols - k, piece);
      const std::byte* rows = a.w.data + n * row_bytes + k / info.block_values * info.block_bytes;
      const float* w = direct ? reinterpret_cast<const float*>(rows) : panel;
      if (!direct) {
        for (std::uint32_t i = 0; i < count; ++i) decode_row(a.w.type, rows + i * row_bytes, cols, panel + i * stride);
      }
      strip_piece(a.rows,
                  {{w, stride}, a.x + k, a.x_stride, a.out + n, a.out_stride, {0, cols}, a.accumulate, state, k == 0,
                   k + cols == a.w.cols},
                  count);
      k += cols;
    } while (k < a.w.cols);
  }
}

// Columns of the pieces of a sum over `cols`: as equal as chunks allow.
inline std::uint32_t piece_cols(std::uint32_t cols) {
  const std::uint32_t pieces = (cols + kPieceCols - 1) / kPieceCols;
  return pieces <= 1 ? cols : ((cols + pieces - 1) / pieces + 15) / 16 * 16;
}

// A strip of x rows from `m` on against a panel of `count` weight rows from n on.
inline void sweep_strip(const MatmulArgs& a, const float* panel, std::size_t stride, std::uint32_t n,
                        std::uint32_t count, std::uint32_t m) {
  float* state = reinterpret_cast<float*>(a.scratch);
  const std::uint32_t piece = piece_cols(a.w.cols);
  std::uint32_t k = 0;
  do {
    const std::uint32_t cols = smaller(a.w.cols - k, piece);
    strip_piece(smaller(a.rows - m, kTileM),
             {{panel + k, stride}, a.x + m * a.x_stride + k, a.x_stride, a.out + m * a.out_stride + n, a.out_stride,
              {0, cols}, a.accumulate, state, k == 0, k + cols == a.w.cols}, count);
    k += cols;
  } while (k < a.w.cols);
}

void matmul_many(const MatmulArgs& a) {
  const std::size_t row_bytes = a.w.row_bytes();
  const std::uint32_t step = panel_rows(a.w.cols);
  const bool direct = a.w.type == WeightType::kF32;
  const std::size_t stride = direct ? a.w.cols : panel_stride(a.w.cols);
  float* decoded = reinterpret_cast<float*>(a.scratch) + kStateFloats;
  for (std::uint32_t n = a.n_begin; n < a.n_end; n += step) {
    const std::uint32_t count = smaller(a.n_end - n, step);
    const std::byte* rows = a.w.data + n * row_bytes;
    if (!direct) {
      for (std::uint32_t i = 0; i < count; ++i) {
        decode_row(a.w.type, rows + i * row_bytes, a.w.cols, decoded + i * stride);
      }
    }
    const float* panel = direct ? reinterpret_cast<const float*>(rows) : decoded;
    for (std::uint32_t m = 0; m < a.rows; m += kTileM) sweep_strip(a, panel, stride, n, count, m);
  }
}

void matmul(const MatmulArgs& a) {
  if (a.rows == 0) return;
  a.rows <= kTileM ? matmul_few(a) : matmul_many(a);
}
