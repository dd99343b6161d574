// SPDX-License-Identifier: Apache-2.0
// Matrix times rows: a panel of weight rows is decoded to f32 once and swept by strips of x rows. F32 weights are read
// where they lie.

constexpr std::size_t kPanelBytes = 256 * 1024;  // a panel and a strip of x stay in L2
constexpr std::uint32_t kPanelRows = 64;
constexpr std::uint32_t kFewRows = 8;  // of a panel that must stay in L1, when few x rows use it

// Floats between panel rows: a whole number of chunks, and not a multiple of 4 KiB, which would crowd one cache set.
inline std::size_t panel_stride(std::size_t cols) {
  const std::size_t chunks = (cols + 15) / 16;
  return (chunks % 64 == 0 ? chunks + 1 : chunks) * 16;
}

inline std::uint32_t panel_rows(std::size_t cols, std::uint32_t x_rows) {
  const std::size_t fit = kPanelBytes / (panel_stride(cols) * sizeof(float));
  if (fit <= kFewRows || x_rows <= kTileM) return kFewRows;
  return fit >= kPanelRows ? kPanelRows : static_cast<std::uint32_t>(fit & ~std::size_t{7});
}

std::size_t matmul_scratch_bytes(std::uint32_t max_cols) {
  const std::size_t least = kFewRows * panel_stride(std::size_t{max_cols} + 16) * sizeof(float);
  return least > kPanelBytes ? least : kPanelBytes;
}

inline void sweep(const MatmulArgs& a, const float* panel, std::size_t stride, std::uint32_t n, std::uint32_t count) {
  for (std::uint32_t m = 0; m < a.rows; m += kTileM) {
    const std::uint32_t rows = a.rows - m < kTileM ? a.rows - m : kTileM;
    strip_of(rows, {panel, stride, a.x + m * a.x_stride, a.x_stride, a.out + m * a.out_stride + n, a.out_stride,
                    {0, a.w.cols}, a.accumulate}, count);
  }
}

void matmul(const MatmulArgs& a) {
  const std::size_t row_bytes = a.w.row_bytes();
  const std::uint32_t step = panel_rows(a.w.cols, a.rows);
  float* panel = reinterpret_cast<float*>(a.scratch);
  const std::size_t stride = panel_stride(a.w.cols);
  for (std::uint32_t n = a.n_begin; n < a.n_end; n += step) {
    const std::uint32_t count = a.n_end - n < step ? a.n_end - n : step;
    const std::byte* rows = a.w.data + n * row_bytes;
    if (a.w.type == WeightType::kF32) {
      sweep(a, reinterpret_cast<const float*>(rows), a.w.cols, n, count);
      continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) decode_row(a.w.type, rows + i * row_bytes, a.w.cols, panel + i * stride);
    sweep(a, panel, stride, n, count);
  }
}
