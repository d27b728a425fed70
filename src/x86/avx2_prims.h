// Primitives of AVX2 with FMA for the kernel templates; the list and its meaning are in simd/vec.h.
#pragma once

#include <immintrin.h>

#include "simd/vec.h"
#include "simd/xsimd_use.h"

namespace samebit {
namespace {

struct Avx2 {
  using f32 = xsimd::batch<float, xsimd::avx2>;
  using i32 = xsimd::batch<int32_t, xsimd::avx2>;
  using f64 = xsimd::batch<double, xsimd::avx2>;
  using i16 = __m256i;
  using Bytes = __m256i;
  static constexpr size_t lanes = 8;
  static constexpr size_t step = 32;

  // ---- memory
  static SB_INLINE __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static SB_INLINE Bytes load_bytes(const void* p) { return load(p); }
  static SB_INLINE Bytes load_bytes_partial(const void* p, size_t n) {
    alignas(32) unsigned char copy[32] = {};
    std::memcpy(copy, p, n);
    return load(copy);
  }
  static SB_INLINE void store_bytes(void* p, Bytes v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static SB_INLINE void stream_bytes(void* p, Bytes v) { _mm256_stream_si256(static_cast<__m256i*>(p), v); }
  static SB_INLINE void store_bytes_partial(void* p, Bytes v, size_t n) {
    alignas(32) unsigned char copy[32];
    store_bytes(copy, v);
    std::memcpy(p, copy, n);
  }
  static SB_INLINE Four<f32> load4(const float* p) {
    return {{_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8), _mm256_loadu_ps(p + 16), _mm256_loadu_ps(p + 24)}};
  }
  static SB_INLINE Four<i32> load4(const int32_t* p) {
    return {{load(p), load(p + 8), load(p + 16), load(p + 24)}};
  }
  template <class X>
  static SB_INLINE auto load4_partial(const X* p, size_t n) {
    alignas(32) X copy[32] = {};
    std::memcpy(copy, p, n * sizeof(X));
    return load4(static_cast<const X*>(copy));
  }
  static SB_INLINE void store4(float* p, const Four<f32>& x) {
    _mm256_storeu_ps(p, x.v[0]);
    _mm256_storeu_ps(p + 8, x.v[1]);
    _mm256_storeu_ps(p + 16, x.v[2]);
    _mm256_storeu_ps(p + 24, x.v[3]);
  }
  static SB_INLINE void stream4(float* p, const Four<f32>& x) {
    _mm256_stream_ps(p, x.v[0]);
    _mm256_stream_ps(p + 8, x.v[1]);
    _mm256_stream_ps(p + 16, x.v[2]);
    _mm256_stream_ps(p + 24, x.v[3]);
  }
  static SB_INLINE void store4_partial(float* p, const Four<f32>& x, size_t n) {
    alignas(32) float copy[32];
    store4(copy, x);
    std::memcpy(p, copy, n * sizeof(float));
  }
  static SB_INLINE void fence() { _mm_sfence(); }

  // ---- codes. Order of widen/narrow: register j holds byte j of every dword. No lane crossing on either
  // side.
  template <class T>
  static SB_INLINE Four<i32> widen_i32(Bytes x) {
    if constexpr (T(-1) < T(0)) {
      return {{_mm256_srai_epi32(_mm256_slli_epi32(x, 24), 24),
               _mm256_srai_epi32(_mm256_slli_epi32(x, 16), 24),
               _mm256_srai_epi32(_mm256_slli_epi32(x, 8), 24), _mm256_srai_epi32(x, 24)}};
    } else {
      const __m256i low = _mm256_set1_epi32(0xff);
      return {{_mm256_and_si256(x, low), _mm256_and_si256(_mm256_srli_epi32(x, 8), low),
               _mm256_and_si256(_mm256_srli_epi32(x, 16), low), _mm256_srli_epi32(x, 24)}};
    }
  }
  template <class T>
  static SB_INLINE Four<f32> widen_f32(Bytes x) {
    const Four<i32> w = widen_i32<T>(x);
    return {{to_f32(w.v[0]), to_f32(w.v[1]), to_f32(w.v[2]), to_f32(w.v[3])}};
  }
  template <class T>
  static SB_INLINE Four<f32> widen_f32_minus(Bytes x, f32 minus) {
    const Four<f32> w = widen_f32<T>(x);
    return {{w.v[0] - minus, w.v[1] - minus, w.v[2] - minus, w.v[3] - minus}};
  }
  template <class T>
  static SB_INLINE __m256i pack16(__m256i a, __m256i b) {
    if constexpr (T(-1) < T(0)) return _mm256_packs_epi16(a, b);
    else return _mm256_packus_epi16(a, b);
  }
  /// After two packs a 128-bit lane holds r0[0..3] r1[0..3] r2[0..3] r3[0..3]: transpose to r0[0] r1[0] r2[0]
  /// r3[0] ...
  static SB_INLINE Bytes interleave(__m256i packed) {
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm256_shuffle_epi8(packed, _mm256_broadcastsi128_si256(order));
  }
  template <class T>
  static SB_INLINE Bytes narrow(const Four<i32>& q) {
    return interleave(pack16<T>(_mm256_packs_epi32(q.v[0], q.v[1]), _mm256_packs_epi32(q.v[2], q.v[3])));
  }
  template <class T>
  static SB_INLINE __m256i pack_add(const Four<i32>& q, i16 zero_point) {
    return pack16<T>(_mm256_adds_epi16(_mm256_packs_epi32(q.v[0], q.v[1]), zero_point),
                     _mm256_adds_epi16(_mm256_packs_epi32(q.v[2], q.v[3]), zero_point));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add(const Four<i32>& q, i16 zero_point) {
    return interleave(pack_add<T>(q, zero_point));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add_seq(const Four<i32>& q, i16 zero_point) {
    // dword 4 * lane + j holds values 8 * j + 4 * lane .. + 3; it belongs at dword 2 * j + lane
    return _mm256_permutevar8x32_epi32(pack_add<T>(q, zero_point), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
  template <class T>
  static SB_INLINE i32 widen8(__m128i x) {
    if constexpr (T(-1) < T(0)) return _mm256_cvtepi8_epi32(x);
    else return _mm256_cvtepu8_epi32(x);
  }
  template <class T>
  static SB_INLINE Four<i32> load_codes(const T* p) {
    const auto part = [p](int j) {
      return widen8<T>(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8 * j)));
    };
    return {{part(0), part(1), part(2), part(3)}};
  }
  static SB_INLINE i16 splat16(int32_t v) { return _mm256_set1_epi16(static_cast<short>(v)); }

  // ---- floats
  static SB_INLINE f32 fma(f32 a, f32 b, f32 c) { return _mm256_fmadd_ps(a, b, c); }
  static SB_INLINE f32 div(f32 a, f32 b) { return _mm256_div_ps(a, b); }
  static SB_INLINE f32 to_f32(i32 v) { return _mm256_cvtepi32_ps(v); }
  static SB_INLINE i32 round_x86(f32 v) { return _mm256_cvtps_epi32(v); }
  static SB_INLINE i32 round_arm(f32 v) {
    // What overflows upwards came out as -2^31: flip all bits to 2^31 - 1. NaN becomes 0.
    const __m256i over = _mm256_castps_si256(_mm256_cmp_ps(v, _mm256_set1_ps(2147483648.0f), _CMP_GE_OQ));
    const __m256i ordered = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_ORD_Q));
    return _mm256_and_si256(_mm256_xor_si256(_mm256_cvtps_epi32(v), over), ordered);
  }
  // minps and maxps return their second operand when either is NaN.
  static SB_INLINE f32 min_keep_nan(f32 v, f32 bound) { return _mm256_min_ps(bound, v); }
  static SB_INLINE f32 max_keep_nan(f32 v, f32 bound) { return _mm256_max_ps(bound, v); }
  static SB_INLINE i32 shift_right(i32 v, int count) { return _mm256_sra_epi32(v, _mm_cvtsi32_si128(count)); }

  // ---- doubles
  static SB_INLINE f64 f64_low(i32 v) { return _mm256_cvtepi32_pd(_mm256_castsi256_si128(v)); }
  static SB_INLINE f64 f64_high(i32 v) { return _mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1)); }
  static SB_INLINE f64 f64_low(f32 v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
  static SB_INLINE f64 f64_high(f32 v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
  static SB_INLINE i32 join_i32(f64 low, f64 high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvtpd_epi32(low)), _mm256_cvtpd_epi32(high),
                                   1);
  }
  static SB_INLINE f32 join_f32(f64 low, f64 high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
  }
  static SB_INLINE f64 to_odd(f64 hi, f64 lo) {
    const __m256d zero = _mm256_setzero_pd();
    const __m256i bits = _mm256_castpd_si256(hi);
    const __m256d finite = _mm256_cmp_pd(_mm256_sub_pd(hi, hi), zero, _CMP_EQ_OQ);
    const __m256i inexact = _mm256_castpd_si256(_mm256_and_pd(finite, _mm256_cmp_pd(lo, zero, _CMP_NEQ_OQ)));
    // Same signs: away from zero, + 1; otherwise towards zero, - 1. cmpgt(0, sign of hi ^ lo) is all ones,
    // i.e. -1.
    const __m256i towards =
        _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(_mm256_xor_pd(hi, lo)));
    const __m256i step_by_one = _mm256_or_si256(towards, _mm256_set1_epi64x(1));
    const __m256i even =
        _mm256_cmpeq_epi64(_mm256_and_si256(bits, _mm256_set1_epi64x(1)), _mm256_setzero_si256());
    const __m256i change = _mm256_and_si256(step_by_one, _mm256_and_si256(even, inexact));
    return _mm256_castsi256_pd(_mm256_add_epi64(bits, change));
  }
};

}  // namespace
}  // namespace samebit
