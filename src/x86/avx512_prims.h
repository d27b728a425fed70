// Primitives of AVX-512 (F, BW, DQ, VL, CD) for the kernel templates; the list and its meaning are in
// simd/vec.h.
#pragma once

#include <immintrin.h>

#include "simd/vec.h"
#include "simd/xsimd_use.h"

namespace samebit {
namespace {

struct Avx512 {
  using f32 = xsimd::batch<float, xsimd::avx512bw>;
  using i32 = xsimd::batch<int32_t, xsimd::avx512bw>;
  using f64 = xsimd::batch<double, xsimd::avx512bw>;
  using i16 = __m512i;
  using Bytes = __m512i;
  static constexpr size_t lanes = 16;
  static constexpr size_t step = 64;

  // ---- memory
  static SB_INLINE __mmask64 first(size_t n) { return ~uint64_t{0} >> (64 - n); }  // 1 <= n <= 64
  static SB_INLINE Bytes load_bytes(const void* p) { return _mm512_loadu_si512(p); }
  static SB_INLINE Bytes load_bytes_partial(const void* p, size_t n) {
    return _mm512_maskz_loadu_epi8(first(n), p);
  }
  static SB_INLINE void store_bytes(void* p, Bytes v) { _mm512_storeu_si512(p, v); }
  static SB_INLINE void stream_bytes(void* p, Bytes v) { _mm512_stream_si512(static_cast<__m512i*>(p), v); }
  static SB_INLINE void store_bytes_partial(void* p, Bytes v, size_t n) {
    _mm512_mask_storeu_epi8(p, first(n), v);
  }

  static SB_INLINE Four<f32> load4(const float* p) {
    return {{_mm512_loadu_ps(p), _mm512_loadu_ps(p + 16), _mm512_loadu_ps(p + 32), _mm512_loadu_ps(p + 48)}};
  }
  static SB_INLINE Four<i32> load4(const int32_t* p) {
    return {{_mm512_loadu_si512(p), _mm512_loadu_si512(p + 16), _mm512_loadu_si512(p + 32),
             _mm512_loadu_si512(p + 48)}};
  }
  /// Mask of register j (0..3) when the first n of 64 values exist.
  static SB_INLINE __mmask16 part(size_t n, int j) { return static_cast<__mmask16>(first(n) >> (16 * j)); }
  static SB_INLINE Four<f32> load4_partial(const float* p, size_t n) {
    return {{_mm512_maskz_loadu_ps(part(n, 0), p), _mm512_maskz_loadu_ps(part(n, 1), p + 16),
             _mm512_maskz_loadu_ps(part(n, 2), p + 32), _mm512_maskz_loadu_ps(part(n, 3), p + 48)}};
  }
  static SB_INLINE Four<i32> load4_partial(const int32_t* p, size_t n) {
    return {{_mm512_maskz_loadu_epi32(part(n, 0), p), _mm512_maskz_loadu_epi32(part(n, 1), p + 16),
             _mm512_maskz_loadu_epi32(part(n, 2), p + 32), _mm512_maskz_loadu_epi32(part(n, 3), p + 48)}};
  }
  static SB_INLINE void store4(float* p, const Four<f32>& x) {
    _mm512_storeu_ps(p, x.v[0]);
    _mm512_storeu_ps(p + 16, x.v[1]);
    _mm512_storeu_ps(p + 32, x.v[2]);
    _mm512_storeu_ps(p + 48, x.v[3]);
  }
  static SB_INLINE void stream4(float* p, const Four<f32>& x) {
    _mm512_stream_ps(p, x.v[0]);
    _mm512_stream_ps(p + 16, x.v[1]);
    _mm512_stream_ps(p + 32, x.v[2]);
    _mm512_stream_ps(p + 48, x.v[3]);
  }
  static SB_INLINE void store4_partial(float* p, const Four<f32>& x, size_t n) {
    _mm512_mask_storeu_ps(p, part(n, 0), x.v[0]);
    _mm512_mask_storeu_ps(p + 16, part(n, 1), x.v[1]);
    _mm512_mask_storeu_ps(p + 32, part(n, 2), x.v[2]);
    _mm512_mask_storeu_ps(p + 48, part(n, 3), x.v[3]);
  }
  static SB_INLINE void fence() { _mm_sfence(); }

  // ---- codes. Order of widen/narrow: register j holds byte j of every dword. No lane crossing on either
  // side.
  /// Byte k (0 or 1) of each dword of x, less `minus` (a code), as a float: (x & mask) ^ magic puts the byte
  /// into the mantissa of a float whose unit is that byte's lowest bit, flipping the sign bit of int8 on the
  /// way; subtracting the offset is exact. Two logic and float-add operations instead of shift, mask and
  /// conversion.
  template <class T, int k>
  static SB_INLINE f32 byte_to_f32(__m512i x, f32 minus) {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr int mask = 0xff << (8 * k);
    // 2^23 has unit 2^0 (bit 0), 2^15 has unit 2^-8 (bit 8 counts 1).
    constexpr int magic = (k == 0 ? 0x4b000000 : 0x47000000) | (is_signed ? 0x80 << (8 * k) : 0);
    constexpr float offset = (k == 0 ? 8388608.0f : 32768.0f) + (is_signed ? 128.0f : 0.0f);
    // truth table 0x6a: (A & B) ^ C
    const __m512i bits =
        _mm512_ternarylogic_epi32(x, _mm512_set1_epi32(mask), _mm512_set1_epi32(magic), 0x6a);
    return _mm512_sub_ps(_mm512_castsi512_ps(bits), f32(offset) + minus);
  }
  /// Byte 2 of each dword. Unsigned: r = 0 0 0 b2, one shuffle; signed: b2 to the top, then down with its
  /// sign.
  template <class T>
  static SB_INLINE i32 byte2(Bytes x) {
    if constexpr (T(-1) < T(0)) return _mm512_srai_epi32(_mm512_slli_epi32(x, 8), 24);
    const __m128i order = _mm_setr_epi8(2, -1, -1, -1, 6, -1, -1, -1, 10, -1, -1, -1, 14, -1, -1, -1);
    return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order));
  }
  /// Byte 3 of each dword.
  template <class T>
  static SB_INLINE i32 byte3(Bytes x) {
    if constexpr (T(-1) < T(0)) return _mm512_srai_epi32(x, 24);
    else return _mm512_srli_epi32(x, 24);
  }
  /// Half of the bytes by mantissa, half by conversion: spreads the work over the ports (79 GB/s in
  /// QLinearAdd against 71 and 68 for either alone).
  template <class T>
  static SB_INLINE Four<f32> widen_f32(Bytes x) {
    const f32 zero(0.0f);
    return {
        {byte_to_f32<T, 0>(x, zero), byte_to_f32<T, 1>(x, zero), to_f32(byte2<T>(x)), to_f32(byte3<T>(x))}};
  }
  template <class T>
  static SB_INLINE Four<f32> widen_f32_minus(Bytes x, f32 minus) {
    const __m512i high = _mm512_srli_epi32(x, 16);
    return {{byte_to_f32<T, 0>(x, minus), byte_to_f32<T, 1>(x, minus), byte_to_f32<T, 0>(high, minus),
             byte_to_f32<T, 1>(high, minus)}};
  }
  template <class T>
  static SB_INLINE Four<i32> widen_i32(Bytes x) {
    if constexpr (T(-1) < T(0)) {
      return {{_mm512_srai_epi32(_mm512_slli_epi32(x, 24), 24),
               _mm512_srai_epi32(_mm512_slli_epi32(x, 16), 24),
               _mm512_srai_epi32(_mm512_slli_epi32(x, 8), 24), _mm512_srai_epi32(x, 24)}};
    } else {
      const __m512i low = _mm512_set1_epi32(0xff);
      return {{_mm512_and_si512(x, low), _mm512_and_si512(_mm512_srli_epi32(x, 8), low),
               _mm512_and_si512(_mm512_srli_epi32(x, 16), low), _mm512_srli_epi32(x, 24)}};
    }
  }
  template <class T>
  static SB_INLINE __m512i pack16(__m512i a, __m512i b) {
    if constexpr (T(-1) < T(0)) return _mm512_packs_epi16(a, b);
    else return _mm512_packus_epi16(a, b);
  }
  /// After two packs a 128-bit lane holds r0[0..3] r1[0..3] r2[0..3] r3[0..3]: transpose to r0[0] r1[0] r2[0]
  /// r3[0] ...
  static SB_INLINE Bytes interleave(__m512i packed) {
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_shuffle_epi8(packed, _mm512_broadcast_i32x4(order));
  }
  template <class T>
  static SB_INLINE Bytes narrow(const Four<i32>& q) {
    return interleave(pack16<T>(_mm512_packs_epi32(q.v[0], q.v[1]), _mm512_packs_epi32(q.v[2], q.v[3])));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add(const Four<i32>& q, i16 zero_point) {
    return interleave(pack16<T>(_mm512_adds_epi16(_mm512_packs_epi32(q.v[0], q.v[1]), zero_point),
                                _mm512_adds_epi16(_mm512_packs_epi32(q.v[2], q.v[3]), zero_point)));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add_seq(const Four<i32>& q, i16 zero_point) {
    const __m512i packed = pack16<T>(_mm512_adds_epi16(_mm512_packs_epi32(q.v[0], q.v[1]), zero_point),
                                     _mm512_adds_epi16(_mm512_packs_epi32(q.v[2], q.v[3]), zero_point));
    // dword 4 * lane + j holds values 16 * j + 4 * lane .. + 3; it belongs at dword 4 * j + lane
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, packed);
  }
  template <class T>
  static SB_INLINE i32 widen16(__m128i x) {
    if constexpr (T(-1) < T(0)) return _mm512_cvtepi8_epi32(x);
    else return _mm512_cvtepu8_epi32(x);
  }
  template <class T>
  static SB_INLINE Four<i32> load_codes(const T* p) {
    const auto part = [p](int j) {
      return widen16<T>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * j)));
    };
    return {{part(0), part(1), part(2), part(3)}};
  }
  static SB_INLINE i16 splat16(int32_t v) { return _mm512_set1_epi16(static_cast<short>(v)); }

  // ---- floats
  static SB_INLINE f32 fma(f32 a, f32 b, f32 c) { return _mm512_fmadd_ps(a, b, c); }
  static SB_INLINE f32 div(f32 a, f32 b) { return _mm512_div_ps(a, b); }
  static SB_INLINE f32 to_f32(i32 v) { return _mm512_cvtepi32_ps(v); }
  static SB_INLINE i32 round_x86(f32 v) { return _mm512_cvtps_epi32(v); }
  static SB_INLINE i32 round_arm(f32 v) {
    // Ordered lanes only (NaN: 0); what overflows upwards came out as -2^31 and becomes 2^31 - 1.
    const __m512i q = _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
    return _mm512_mask_mov_epi32(q, _mm512_cmp_ps_mask(v, _mm512_set1_ps(2147483648.0f), _CMP_GE_OQ),
                                 _mm512_set1_epi32(INT32_MAX));
  }
  // minps and maxps return their second operand when either is NaN.
  static SB_INLINE f32 min_keep_nan(f32 v, f32 bound) { return _mm512_min_ps(bound, v); }
  static SB_INLINE f32 max_keep_nan(f32 v, f32 bound) { return _mm512_max_ps(bound, v); }
  static SB_INLINE i32 shift_right(i32 v, int count) { return _mm512_sra_epi32(v, _mm_cvtsi32_si128(count)); }

  // ---- doubles
  static SB_INLINE f64 f64_low(i32 v) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(v)); }
  static SB_INLINE f64 f64_high(i32 v) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(v, 1)); }
  static SB_INLINE f64 f64_low(f32 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
  static SB_INLINE f64 f64_high(f32 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
  static SB_INLINE i32 join_i32(f64 low, f64 high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(low)), _mm512_cvtpd_epi32(high), 1);
  }
  static SB_INLINE f32 join_f32(f64 low, f64 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
  }
  static SB_INLINE f64 to_odd(f64 hi, f64 lo) {
    const __m512i bits = _mm512_castpd_si512(hi);
    const __mmask8 finite = _mm512_cmp_pd_mask(_mm512_sub_pd(hi, hi), _mm512_setzero_pd(), _CMP_EQ_OQ);
    const __mmask8 inexact = _mm512_mask_cmp_pd_mask(finite, lo, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    const __mmask8 even = _mm512_mask_testn_epi64_mask(inexact, bits, _mm512_set1_epi64(1));
    // Same signs: away from zero, + 1; otherwise towards zero, - 1.
    const __mmask8 away = _mm512_movepi64_mask(_mm512_castpd_si512(_mm512_xor_pd(hi, lo)));
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i up = _mm512_mask_add_epi64(bits, even & static_cast<__mmask8>(~away), bits, one);
    return _mm512_castsi512_pd(_mm512_mask_sub_epi64(up, even & away, bits, one));
  }
};

}  // namespace
}  // namespace samebit
