/// samebit/reference.h: every scalar formula of samebit, one value at a time, in one self-contained C99 file.
///
/// The library's scalar backend loops over these functions and `samebit explain` runs them with a trace, so
/// they are the definition of the bits. They can be used alone, as a golden model: no library, no libm, no
/// allocation.
///
/// Each operator has one or more *rules*. A rule is an arithmetic: which operation, in which width, rounded
/// how, in which order. `<op>_<rule>_init` derives the constants from scales and zero points, `<op>_<rule>`
/// maps one value. Which rule a machine's ONNX Runtime uses is written in docs/numerics.md (and chosen in
/// src/params/).
///
/// Requirements: IEEE binary32/binary64 evaluated in their own width, round to nearest even, subnormals kept,
/// and no contraction: compile with -ffp-contract=off and without -ffast-math. `lo`, `hi` are the limits of
/// the 8-bit type.
#ifndef SAMEBIT_REFERENCE_H
#define SAMEBIT_REFERENCE_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error \
    "samebit/reference.h needs float and double evaluated in their own precision (on 32-bit x86: -mfpmath=sse)"
#endif
#ifdef __FAST_MATH__
#error "samebit/reference.h must be compiled without -ffast-math"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* ------------------------------------------------------------------------------------------------ trace */

/// What a traced value is: SB_REF_VALUE an intermediate result, SB_REF_ROUNDED one that is rounded to an
/// integer next.
typedef enum { SB_REF_VALUE, SB_REF_ROUNDED } sb_ref_kind;

/// Receives every step of a formula. All values are exact in double. NULL means no trace and costs nothing.
typedef struct {
  void (*step)(void* user, sb_ref_kind kind, const char* name, double value);
  void* user;
} sb_ref_trace;

static inline void sb_ref_step(const sb_ref_trace* t, const char* name, double value) {
  if (t) t->step(t->user, SB_REF_VALUE, name, value);
}
static inline void sb_ref_tie(const sb_ref_trace* t, const char* name, double value) {
  if (t) t->step(t->user, SB_REF_ROUNDED, name, value);
}

/* ------------------------------------------------------------------------------------------ primitives */

static inline int32_t sb_ref_clamp(int32_t v, int32_t lo, int32_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}
static inline int32_t sb_ref_sat16(int32_t v) { return sb_ref_clamp(v, -32768, 32767); }

/// a + b modulo 2^32.
static inline int32_t sb_ref_wrap_add(int32_t a, int32_t b) {
  uint32_t s = (uint32_t)a + (uint32_t)b;
  int32_t r;
  memcpy(&r, &s, sizeof r);
  return r;
}
static inline int32_t sb_ref_wrap_sub(int32_t a, int32_t b) {
  uint32_t s = (uint32_t)a - (uint32_t)b;
  int32_t r;
  memcpy(&r, &s, sizeof r);
  return r;
}

/// Sum of two doubles without error: *hi = fl(x + y), *hi + *lo = x + y (Knuth's TwoSum).
static inline void sb_ref_two_sum(double x, double y, double* hi, double* lo) {
  double s = x + y;
  double t = s - x;
  *hi = s;
  *lo = (x - (s - t)) + (y - t);
}

/// float32 nearest (ties to even) to hi + lo, rounded once; hi = fl(hi + lo) and lo is its error, as from
/// two_sum. hi is first made odd when lo is not zero ("round to odd"), then narrowing cannot round a second
/// time: binary64 has more than the 2 * 24 + 2 bits that this needs. Infinities and NaN pass through.
static inline float sb_ref_narrow(double hi, double lo) {
  uint64_t bits;
  memcpy(&bits, &hi, sizeof bits);
  if (lo != 0 && hi - hi == 0 && lo - lo == 0 && (bits & 1) == 0) {
    bits = (lo > 0) == (hi > 0) ? bits + 1
                                : bits - 1; /* away from or towards zero; hi is not 0 when lo is not */
    memcpy(&hi, &bits, sizeof hi);
  }
  return (float)hi;
}

/// float32 a * b + c with one rounding. The product is exact in double.
static inline float sb_ref_fma(float a, float b, float c) {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  double hi, lo;
  sb_ref_two_sum((double)a * (double)b, (double)c, &hi, &lo);
  return sb_ref_narrow(hi, lo);
#endif
}

/// Nearest integral float32, ties to even. Adding 2^23 leaves no fraction bits. NaN and Inf pass.
static inline float sb_ref_rint(float v) {
  const float big = 8388608.0f;
  if (v >= 0 && v < big) return (v + big) - big;
  if (v < 0 && v > -big) return (v - big) + big;
  return v;
}

/// float32 -> int32 as x86 does it: ties to even; NaN and everything outside int32 give -2^31.
static inline int32_t sb_ref_cvt_x86(float v) {
  if (!(v >= -2147483648.0f && v < 2147483648.0f)) return INT32_MIN;
  return (int32_t)sb_ref_rint(v);
}

/// float32 -> int32 as Arm does it: ties to even; saturates; NaN gives 0.
static inline int32_t sb_ref_cvt_arm(float v) {
  if (v != v) return 0;
  if (v >= 2147483648.0f) return INT32_MAX;
  if (v < -2147483648.0f) return INT32_MIN;
  return (int32_t)sb_ref_rint(v);
}

/* -------------------------------------------------------------------------- exact: one rounding, half to
 * even */

/// Largest magnitude that sb_ref_exact_round tells apart: every code minus zero point is within +-255.
#define SB_REF_EXACT_LIMIT 1024.0

/// Rounds the real number (x + y) / s once, half to even; answers beyond +-1024 come out as +-1024 or +-1025.
/// s > 0, inv = fl(1 / s); |x + y| is 0 or normal. NaN in x: the caller decides before.
/// q = rint of the approximate quotient is off by at most one, and only next to a half integer. (q + 1/2) * s
/// is exact (12 + 24 bits), the subtraction from the nearby hi is exact (Sterbenz), so the two signs below
/// are the truth.
static inline int32_t sb_ref_exact_round(double x, double y, double s, double inv, const sb_ref_trace* t) {
  const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding and subtracting it rounds to an integer */
  double hi, lo, v, q, above, below, odd;
  sb_ref_two_sum(x, y, &hi, &lo);
  if (!(lo - lo == 0)) lo = 0; /* infinite x */
  v = hi * inv;
  v = v < -SB_REF_EXACT_LIMIT ? -SB_REF_EXACT_LIMIT : v > SB_REF_EXACT_LIMIT ? SB_REF_EXACT_LIMIT : v;
  q = (v + magic) - magic;
  above = (hi - (q + 0.5) * s) + lo;                  /* > 0: the quotient is above q + 1/2 */
  below = (hi - (q - 0.5) * s) + lo;                  /* < 0: the quotient is below q - 1/2 */
  odd = q - 2 * (((0.5 * q - 0.25) + magic) - magic); /* q - 2 * floor(q / 2): 1 when q is odd */
  sb_ref_tie(t, "quotient, exact to 2^-52", hi * inv);
  sb_ref_step(t, "exact distance to the tie above, times the divisor", above);
  sb_ref_step(t, "exact distance to the tie below, times the divisor", below);
  if (above > 0 || (above == 0 && odd != 0)) q += 1;
  if (below < 0 || (below == 0 && odd != 0)) q -= 1;
  sb_ref_step(t, "rounded, half to even", q);
  return (int32_t)q;
}

/// Splits v = high + low with `high` the leading bits of v: products of `high` and of `low` with an integer
/// that has 53 - bits(high) bits are exact. 2^k + 1 is Veltkamp's constant for a double, k low bits are cut.
static inline void sb_ref_split(double v, int k, double* high, double* low) {
  double c = (double)((int64_t)1 << k) + 1.0;
  double p = c * v;
  *high = p - (p - v);
  *low = v - *high;
}

/* ---------------------------------------------------------------------------------------- QLinearAdd */
/* `a` is the first and `b` the second kernel operand; with a scalar operand ONNX Runtime may swap them. */

/// Constants of the float rules: y = rint(fixed + a * ra + b * rb), in the order and rounding of the rule.
typedef struct {
  float ra, rb, fixed;
} sb_ref_add_f32;

/// Rule f32_fma (x64 with FMA): constants. r = s / y_scale in float32.
static inline sb_ref_add_f32 sb_ref_add_f32_fma_init(float sa, int32_t za, float sb, int32_t zb, float sy,
                                                     int32_t zy, const sb_ref_trace* t) {
  sb_ref_add_f32 p;
  float product, sum;
  p.ra = sa / sy;
  p.rb = sb / sy;
  sb_ref_step(t, "ra = f32(a_scale / y_scale)", p.ra);
  sb_ref_step(t, "rb = f32(b_scale / y_scale)", p.rb);
  product = p.rb * (float)zb;
  sum = sb_ref_fma(p.ra, (float)za, product);
  p.fixed = (float)zy - sum;
  sb_ref_step(t, "t = fma(ra, a_zero_point, f32(rb * b_zero_point))", sum);
  sb_ref_step(t, "fixed = f32(y_zero_point - t)", p.fixed);
  return p;
}

/// Rule f32_fma: v = fma(a, ra, fma(b, rb, fixed)), then cvt.x86, int16 and 8-bit saturation.
static inline int32_t sb_ref_add_f32_fma_value(int32_t a, int32_t b, const sb_ref_add_f32* p, int32_t lo,
                                               int32_t hi, const sb_ref_trace* t) {
  float u = sb_ref_fma((float)b, p->rb, p->fixed);
  float v = sb_ref_fma((float)a, p->ra, u);
  int32_t q = sb_ref_cvt_x86(v);
  sb_ref_step(t, "u = fma(b, rb, fixed)", u);
  sb_ref_tie(t, "v = fma(a, ra, u)", v);
  sb_ref_step(t, "q = round half to even (NaN or beyond int32: -2^31)", q);
  return sb_ref_clamp(sb_ref_sat16(q), lo, hi);
}

/// Rule f32_mul_add (x64 without FMA): constants; every operation rounded.
static inline sb_ref_add_f32 sb_ref_add_f32_mul_add_init(float sa, int32_t za, float sb, int32_t zb, float sy,
                                                         int32_t zy, const sb_ref_trace* t) {
  sb_ref_add_f32 p;
  float pa, pb, sum;
  p.ra = sa / sy;
  p.rb = sb / sy;
  sb_ref_step(t, "ra = f32(a_scale / y_scale)", p.ra);
  sb_ref_step(t, "rb = f32(b_scale / y_scale)", p.rb);
  pa = p.ra * (float)za;
  pb = p.rb * (float)zb;
  sum = pa + pb;
  p.fixed = (float)zy - sum;
  sb_ref_step(t, "t = f32(f32(ra * a_zero_point) + f32(rb * b_zero_point))", sum);
  sb_ref_step(t, "fixed = f32(y_zero_point - t)", p.fixed);
  return p;
}

/// Rule f32_mul_add: v = f32(f32(fixed + f32(a * ra)) + f32(b * rb)), then as f32_fma.
static inline int32_t sb_ref_add_f32_mul_add_value(int32_t a, int32_t b, const sb_ref_add_f32* p, int32_t lo,
                                                   int32_t hi, const sb_ref_trace* t) {
  float pa = (float)a * p->ra;
  float u = p->fixed + pa;
  float pb = (float)b * p->rb;
  float v = u + pb;
  int32_t q = sb_ref_cvt_x86(v);
  sb_ref_step(t, "u = f32(fixed + f32(a * ra))", u);
  sb_ref_tie(t, "v = f32(u + f32(b * rb))", v);
  sb_ref_step(t, "q = round half to even (NaN or beyond int32: -2^31)", q);
  return sb_ref_clamp(sb_ref_sat16(q), lo, hi);
}

/// Constants of rule fixed21: multipliers below 2^22 with a common shift.
typedef struct {
  int32_t ma, mb, za, zb, zy, shift; /* 13 <= shift <= 31 */
} sb_ref_add_fixed21;

/// Rule fixed21 (arm64): constants. Returns 0 when the ratios do not fit the rule (then f32_divide is used):
/// a ratio below 2^-14 or from 256 on, a shift outside 13..31, a multiplier that reaches 2^22, or both below
/// 2^21. A NaN ratio passes the range test and becomes multiplier 0, but a NaN ra leaves no valid exponent.
static inline int sb_ref_add_fixed21_init(float sa, int32_t za, float sb, int32_t zb, float sy, int32_t zy,
                                          sb_ref_add_fixed21* p, const sb_ref_trace* t) {
  const float least = 0.00006103515625f; /* 2^-14 */
  float ra = sa / sy, rb = sb / sy, greater, power;
  uint32_t bits;
  int32_t shift;
  sb_ref_step(t, "ra = f32(a_scale / y_scale)", ra);
  sb_ref_step(t, "rb = f32(b_scale / y_scale)", rb);
  if (ra < least || ra >= 256.0f || rb < least || rb >= 256.0f) return 0;
  greater = ra < rb ? rb : ra;
  memcpy(&bits, &greater, sizeof bits);
  shift = 21 - ((int32_t)(bits >> 23) - 127);
  if (shift < 13 || shift > 31) return 0;
  power = (float)((uint32_t)1 << shift);
  p->ma = sb_ref_cvt_arm(ra * power);
  p->mb = sb_ref_cvt_arm(rb * power);
  if (p->ma >= 0x400000 || p->mb >= 0x400000 || (p->ma < 0x200000 && p->mb < 0x200000)) return 0;
  p->za = za;
  p->zb = zb;
  p->zy = zy;
  p->shift = shift;
  sb_ref_step(t, "shift = 21 - exponent of the greater ratio", shift);
  sb_ref_step(t, "ma = rint(ra * 2^shift)", p->ma);
  sb_ref_step(t, "mb = rint(rb * 2^shift)", p->mb);
  return 1;
}

/// Rule fixed21: q = (a - za) * ma + (b - zb) * mb, over 2^shift, rounded half away from zero; then the zero
/// point. 2 * 255 * (2^22 - 1) < 2^31: int32 cannot overflow.
static inline int32_t sb_ref_add_fixed21_value(int32_t a, int32_t b, const sb_ref_add_fixed21* p, int32_t lo,
                                               int32_t hi, const sb_ref_trace* t) {
  int32_t acc = (a - p->za) * p->ma + (b - p->zb) * p->mb;
  int64_t up = (int64_t)acc - (acc < 0) + ((int64_t)1 << (p->shift - 1));
  /* floor(up / 2^shift) without shifting a negative number */
  int32_t q = (int32_t)(up >= 0 ? up >> p->shift : -((-up + (((int64_t)1 << p->shift) - 1)) >> p->shift));
  sb_ref_step(t, "acc = (a - a_zero_point) * ma + (b - b_zero_point) * mb", acc);
  sb_ref_tie(t, "acc / 2^shift", (double)acc / (double)((int64_t)1 << p->shift));
  sb_ref_step(t, "q = round half away from zero", q);
  return sb_ref_clamp(sb_ref_sat16(sb_ref_sat16(q) + p->zy), lo, hi);
}

/// Constants of rule f32_divide.
typedef struct {
  float sa, sb, sy;
  int32_t za, zb, zy;
} sb_ref_add_divide;

/// Rule f32_divide (arm64, ratios that fixed21 refuses): dequantize, add fused on the first operand, divide
/// by y_scale, clamp, add the zero point, and only then round (half to even). NaN gives the code 0.
static inline int32_t sb_ref_add_divide_value(int32_t a, int32_t b, const sb_ref_add_divide* p, int32_t lo,
                                              int32_t hi, const sb_ref_trace* t) {
  float least = (float)(lo - p->zy), most = (float)(hi - p->zy);
  float pb = p->sb * (float)(b - p->zb);
  float s = sb_ref_fma(p->sa, (float)(a - p->za), pb);
  float v = s / p->sy;
  sb_ref_step(t, "s = fma(a_scale, a - a_zero_point, f32(b_scale * (b - b_zero_point)))", s);
  sb_ref_step(t, "v = f32(s / y_scale)", v);
  v = v < least ? least : v;
  v = v > most ? most : v;
  v = v + (float)p->zy;
  sb_ref_tie(t, "v = f32(clamp(v) + y_zero_point)", v);
  return sb_ref_cvt_arm(v);
}

/// Constants of rule exact for two operands: (x0 * p + x1 * q) / sy + zy in real numbers.
/// Add: p = a - za, q = b - zb, x0, x1 the scales. Mul: p = q = (a - za) * (b - zb), x0 + x1 = sa * sb split.
/// A negative sy is turned positive together with x0 and x1.
typedef struct {
  double x0, x1, sy, inv;
  int32_t za, zb, zy;
} sb_ref_binary_exact;

static inline sb_ref_binary_exact sb_ref_binary_exact_init(double x0, double x1, int32_t za, int32_t zb,
                                                           float sy, int32_t zy) {
  sb_ref_binary_exact p;
  double sign = sy < 0 ? -1.0 : 1.0;
  p.x0 = x0 * sign;
  p.x1 = x1 * sign;
  p.sy = (double)sy * sign;
  p.inv = 1.0 / p.sy;
  p.za = za;
  p.zb = zb;
  p.zy = zy;
  return p;
}
static inline sb_ref_binary_exact sb_ref_add_exact_init(float sa, int32_t za, float sb, int32_t zb, float sy,
                                                        int32_t zy) {
  return sb_ref_binary_exact_init(sa, sb, za, zb, sy, zy);
}

/// Rule exact: both products have at most 24 + 9 bits and are exact in double.
static inline int32_t sb_ref_add_exact_value(int32_t a, int32_t b, const sb_ref_binary_exact* p, int32_t lo,
                                             int32_t hi, const sb_ref_trace* t) {
  int32_t q = sb_ref_exact_round(p->x0 * (a - p->za), p->x1 * (b - p->zb), p->sy, p->inv, t);
  return sb_ref_clamp(q + p->zy, lo, hi);
}

/* ---------------------------------------------------------------------------------------- QLinearMul */

/// Constants of the float rules of QLinearMul: y = (a - za) * (b - zb) * ratio + zy.
typedef struct {
  float ratio;
  int32_t za, zb, zy;
} sb_ref_mul_f32;

static inline sb_ref_mul_f32 sb_ref_mul_f32_init(float sa, int32_t za, float sb, int32_t zb, float sy,
                                                 int32_t zy, const sb_ref_trace* t) {
  sb_ref_mul_f32 p;
  float product = sa * sb;
  p.ratio = product / sy;
  p.za = za;
  p.zb = zb;
  p.zy = zy;
  sb_ref_step(t, "f32(a_scale * b_scale)", product);
  sb_ref_step(t, "ratio = f32(f32(a_scale * b_scale) / y_scale)", p.ratio);
  return p;
}

/// Rule f32_mul_add (all x64, FMA or not): v = f32(f32(p * ratio) + zy), cvt.x86, saturate. |p| <= 65025 is
/// exact.
static inline int32_t sb_ref_mul_f32_mul_add_value(int32_t a, int32_t b, const sb_ref_mul_f32* p, int32_t lo,
                                                   int32_t hi, const sb_ref_trace* t) {
  int32_t product = (a - p->za) * (b - p->zb);
  float scaled = (float)product * p->ratio;
  float v = scaled + (float)p->zy;
  int32_t q = sb_ref_cvt_x86(v);
  sb_ref_step(t, "p = (a - a_zero_point) * (b - b_zero_point)", product);
  sb_ref_step(t, "f32(p * ratio)", scaled);
  sb_ref_tie(t, "v = f32(f32(p * ratio) + y_zero_point)", v);
  sb_ref_step(t, "q = round half to even (NaN or beyond int32: -2^31)", q);
  return sb_ref_clamp(sb_ref_sat16(q), lo, hi);
}

/// Rule f32_fma (arm64): v = fma(ratio, p, zy), cvt.arm, saturate.
static inline int32_t sb_ref_mul_f32_fma_value(int32_t a, int32_t b, const sb_ref_mul_f32* p, int32_t lo,
                                               int32_t hi, const sb_ref_trace* t) {
  int32_t product = (a - p->za) * (b - p->zb);
  float v = sb_ref_fma(p->ratio, (float)product, (float)p->zy);
  int32_t q = sb_ref_cvt_arm(v);
  sb_ref_step(t, "p = (a - a_zero_point) * (b - b_zero_point)", product);
  sb_ref_tie(t, "v = fma(ratio, p, y_zero_point)", v);
  sb_ref_step(t, "q = round half to even (saturating, NaN: 0)", q);
  return sb_ref_clamp(sb_ref_sat16(q), lo, hi);
}

/// Rule exact: sa * sb has 48 bits; its leading 29 and the other 19 bits times p (17 bits) are exact in
/// double.
static inline sb_ref_binary_exact sb_ref_mul_exact_init(float sa, int32_t za, float sb, int32_t zb, float sy,
                                                        int32_t zy) {
  double x0, x1;
  sb_ref_split((double)sa * (double)sb, 24, &x0, &x1);
  return sb_ref_binary_exact_init(x0, x1, za, zb, sy, zy);
}
static inline int32_t sb_ref_mul_exact_value(int32_t a, int32_t b, const sb_ref_binary_exact* p, int32_t lo,
                                             int32_t hi, const sb_ref_trace* t) {
  int32_t product = (a - p->za) * (b - p->zb);
  int32_t q;
  sb_ref_step(t, "p = (a - a_zero_point) * (b - b_zero_point)", product);
  q = sb_ref_exact_round(p->x0 * product, p->x1 * product, p->sy, p->inv, t);
  return sb_ref_clamp(q + p->zy, lo, hi);
}

/* ------------------------------------------------------------------------------------- QuantizeLinear */

/// Rule f32_divide (all ONNX Runtime machines): v = f32(x / scale), clamped to [lo - zp, hi - zp] (NaN to the
/// lower bound), rounded half to even, then the zero point. Ties are decided before the zero point is added.
static inline int32_t sb_ref_quantize_value(float x, float scale, int32_t zp, int32_t lo, int32_t hi,
                                            const sb_ref_trace* t) {
  float least = (float)(lo - zp), most = (float)(hi - zp);
  float v = x / scale;
  sb_ref_step(t, "v = f32(x / y_scale)", v);
  v = v > least ? v : least;
  v = v < most ? v : most;
  sb_ref_tie(t, "v clamped to the type's range less the zero point", v);
  return (int32_t)sb_ref_rint(v) + zp;
}

/// Constants of rule exact for one operand: x / s + zp in real numbers, s > 0 (a negative scale negates x:
/// sign).
typedef struct {
  double sign, s, inv;
  int32_t zp;
} sb_ref_quantize_exact;

static inline sb_ref_quantize_exact sb_ref_quantize_exact_init(float scale, int32_t zp) {
  sb_ref_quantize_exact p;
  p.sign = scale < 0 ? -1.0 : 1.0;
  p.s = (double)scale * p.sign;
  p.inv = 1.0 / p.s;
  p.zp = zp;
  return p;
}

/// Rule exact: x / scale as a real number, rounded once. NaN gives lo, as the other rule does.
static inline int32_t sb_ref_quantize_exact_value(float x, const sb_ref_quantize_exact* p, int32_t lo,
                                                  int32_t hi, const sb_ref_trace* t) {
  if (x != x) return lo;
  return sb_ref_clamp(sb_ref_exact_round((double)x * p->sign, 0.0, p->s, p->inv, t) + p->zp, lo, hi);
}

/* ------------------------------------------------------------------------------ DynamicQuantizeLinear */

typedef struct {
  float min, max;
} sb_ref_min_max;

/// Extremes as ONNX Runtime finds them on x64 (lanes 8, or 4 without AVX): four vectors of accumulators,
/// where a NaN replaces its lane's value and is itself replaced by the next; the remainder ignores NaN.
static inline sb_ref_min_max sb_ref_min_max_x64(const float* x, size_t n, int lanes) {
  sb_ref_min_max r = {FLT_MAX, -FLT_MAX};
  float lo[4][8], hi[4][8];
  size_t at = 0, vector = (size_t)lanes;
  int i, j;
  if (n >= vector) {
    for (j = 0; j < 4; ++j)
      for (i = 0; i < lanes; ++i) lo[j][i] = FLT_MAX, hi[j][i] = -FLT_MAX;
    while (n - at >= vector) {
      const int many = n - at >= 4 * vector ? 4 : 1;
      for (j = 0; j < many; ++j) {
        for (i = 0; i < lanes; ++i, ++at) {
          lo[j][i] = lo[j][i] < x[at] ? lo[j][i] : x[at];
          hi[j][i] = hi[j][i] > x[at] ? hi[j][i] : x[at];
        }
      }
      /* Before the first single vector, or at the end, four become one: (0, 1), (2, 3), then both. */
      if (many == 4 && n - at < 4 * vector) {
        for (i = 0; i < lanes; ++i) {
          lo[0][i] = lo[0][i] < lo[1][i] ? lo[0][i] : lo[1][i];
          hi[0][i] = hi[0][i] > hi[1][i] ? hi[0][i] : hi[1][i];
          lo[2][i] = lo[2][i] < lo[3][i] ? lo[2][i] : lo[3][i];
          hi[2][i] = hi[2][i] > hi[3][i] ? hi[2][i] : hi[3][i];
          lo[0][i] = lo[0][i] < lo[2][i] ? lo[0][i] : lo[2][i];
          hi[0][i] = hi[0][i] > hi[2][i] ? hi[0][i] : hi[2][i];
        }
      }
    }
    for (j = lanes / 2; j > 0; j /= 2) {
      for (i = 0; i < j; ++i) {
        lo[0][i] = lo[0][i] < lo[0][i + j] ? lo[0][i] : lo[0][i + j];
        hi[0][i] = hi[0][i] > hi[0][i + j] ? hi[0][i] : hi[0][i + j];
      }
    }
    r.min = lo[0][0];
    r.max = hi[0][0];
  }
  for (; at < n; ++at) {
    r.max = r.max < x[at] ? x[at] : r.max;
    r.min = x[at] < r.min ? x[at] : r.min;
  }
  return r;
}

/// Extremes on arm64: a NaN among whole vectors of 4 makes both NaN, in the remainder it is ignored.
static inline sb_ref_min_max sb_ref_min_max_arm64(const float* x, size_t n) {
  sb_ref_min_max r = {FLT_MAX, -FLT_MAX};
  size_t at;
  for (at = 0; at < n; ++at) {
    if (x[at] != x[at] && at < n / 4 * 4) r.min = r.max = x[at];
    r.max = r.max < x[at] ? x[at] : r.max;
    r.min = x[at] < r.min ? x[at] : r.min;
  }
  return r;
}

/// Extremes of all numbers; NaN is none (rule exact).
static inline sb_ref_min_max sb_ref_min_max_numbers(const float* x, size_t n) {
  sb_ref_min_max r = {FLT_MAX, -FLT_MAX};
  size_t at;
  for (at = 0; at < n; ++at) {
    r.max = r.max < x[at] ? x[at] : r.max;
    r.min = x[at] < r.min ? x[at] : r.min;
  }
  return r;
}

/// Scale and zero point (uint8) for values between the extremes and 0: (max - min) / 255, and where 0 lies.
static inline void sb_ref_dynamic_quantize_params(sb_ref_min_max r, float* scale, int32_t* zero_point) {
  float z;
  r.min = 0.0f < r.min ? 0.0f : r.min;
  r.max = r.max < 0.0f ? 0.0f : r.max;
  *scale = 1.0f;
  if (r.max != r.min) {
    *scale = r.max - r.min;
    *scale = *scale / 255.0f;
  }
  z = r.min / *scale;
  z = 0.0f - z;
  z = z < 255.0f ? z : 255.0f;
  z = 0.0f < z ? z : 0.0f;
  *zero_point = (int32_t)sb_ref_rint(z);
}

/// Rule exact: the quotient of the real difference, and the zero point of that scale, each rounded once.
static inline void sb_ref_dynamic_quantize_params_exact(sb_ref_min_max r, float* scale, int32_t* zero_point) {
  double hi, lo, q;
  r.min = 0.0f < r.min ? 0.0f : r.min;
  r.max = r.max < 0.0f ? 0.0f : r.max;
  *scale = 1.0f;
  *zero_point = 0;
  if (r.max == r.min) return;
  sb_ref_two_sum((double)r.max, -(double)r.min, &hi, &lo);
  q = hi / 255.0;
  /* What the quotient leaves: q has at most 53 bits, so q * 255 is hi but for a remainder that two products
   * give. */
  {
    double q0, q1, rest;
    sb_ref_split(q, 27, &q0, &q1);
    rest = ((hi - q0 * 255.0) - q1 * 255.0) + lo;
    *scale = sb_ref_narrow(q, rest);
  }
  if (*scale > 0.0f)
    *zero_point = sb_ref_clamp(
        sb_ref_exact_round(-(double)r.min, 0.0, (double)*scale, 1.0 / (double)*scale, 0), 0, 255);
}

/* ----------------------------------------------------------------------------------- DequantizeLinear */

/// Rule f32: y = f32(f32(x - zp) * scale); the difference wraps modulo 2^32, its conversion rounds above
/// 2^24.
static inline float sb_ref_dequantize_value(int32_t x, float scale, int32_t zp, const sb_ref_trace* t) {
  int32_t d = sb_ref_wrap_sub(x, zp);
  float f = (float)d;
  sb_ref_step(t, "d = x - x_zero_point (wrapping)", d);
  sb_ref_step(t, "f32(d)", f);
  return f * scale;
}

/// Constants of rule f32_infinite.
typedef struct {
  float scale; /* infinite */
  float nan;   /* what 0 * infinity is: 0xffc00000 on x64, 0x7fc00000 on arm64 */
  int32_t zp;
} sb_ref_dequantize_infinite;

static inline sb_ref_dequantize_infinite sb_ref_dequantize_infinite_init(float scale, int32_t zp, int x64) {
  sb_ref_dequantize_infinite p;
  uint32_t nan = x64 ? 0xffc00000u : 0x7fc00000u;
  p.scale = scale;
  memcpy(&p.nan, &nan, sizeof nan);
  p.zp = zp;
  return p;
}

/// Rule f32_infinite: rule f32 where the scale is infinite. CPUs differ in the sign of 0 * infinity, so that
/// it is chosen here and not by the product.
static inline float sb_ref_dequantize_infinite_value(int32_t x, const sb_ref_dequantize_infinite* p,
                                                     const sb_ref_trace* t) {
  int32_t d = sb_ref_wrap_sub(x, p->zp);
  sb_ref_step(t, "d = x - x_zero_point (wrapping)", d);
  if (d == 0) return p->nan;
  return d < 0 ? -p->scale : p->scale;
}

/// Constants of rule exact (int32 input; for 8-bit input rule f32 rounds only once and is exact already).
typedef struct {
  double s0, s1; /* scale = s0 + s1, 12 bits each: products with a 33-bit integer are exact in double */
  int32_t zp;
} sb_ref_dequantize_exact;

static inline sb_ref_dequantize_exact sb_ref_dequantize_exact_init(float scale, int32_t zp) {
  sb_ref_dequantize_exact p;
  sb_ref_split((double)scale, 41, &p.s0, &p.s1);
  p.zp = zp;
  return p;
}

/// Rule exact: (x - zp) * scale in real numbers, rounded to float32 once; no wrap.
static inline float sb_ref_dequantize_exact_value(int32_t x, const sb_ref_dequantize_exact* p,
                                                  const sb_ref_trace* t) {
  double d = (double)x - (double)p->zp, hi, lo;
  sb_ref_two_sum(d * p->s0, d * p->s1, &hi, &lo);
  sb_ref_step(t, "d = x - x_zero_point", d);
  sb_ref_step(t, "d * x_scale, leading 53 bits", hi);
  sb_ref_step(t, "d * x_scale, the rest", lo);
  return sb_ref_narrow(hi, lo);
}

/* ------------------------------------------------------------------------- requantize (int32 -> 8 bit) */

/// Rule f32_clamp (x64): v = f32(f32(acc + bias) * scale), clamped to [lo - zp, hi - zp] (NaN to the lower
/// bound), rounded half to even, then the zero point. acc + bias wraps modulo 2^32.
static inline int32_t sb_ref_requantize_clamp_value(int32_t acc, int32_t bias, float scale, int32_t zp,
                                                    int32_t lo, int32_t hi, const sb_ref_trace* t) {
  float least = (float)(lo - zp), most = (float)(hi - zp);
  int32_t sum = sb_ref_wrap_add(acc, bias);
  float v = (float)sum * scale;
  sb_ref_step(t, "acc + bias (wrapping)", sum);
  sb_ref_step(t, "v = f32(f32(acc + bias) * scale)", v);
  v = v > least ? v : least;
  v = v < most ? v : most;
  sb_ref_tie(t, "v clamped to the type's range less the zero point", v);
  return (int32_t)sb_ref_rint(v) + zp;
}

/// Rule f32_saturate (arm64): the same product, converted with saturation (NaN: 0), then the zero point,
/// saturating. Equal to f32_clamp except that NaN gives the zero point.
static inline int32_t sb_ref_requantize_saturate_value(int32_t acc, int32_t bias, float scale, int32_t zp,
                                                       int32_t lo, int32_t hi, const sb_ref_trace* t) {
  int32_t sum = sb_ref_wrap_add(acc, bias);
  float v = (float)sum * scale;
  int32_t q = sb_ref_cvt_arm(v);
  sb_ref_step(t, "acc + bias (wrapping)", sum);
  sb_ref_tie(t, "v = f32(f32(acc + bias) * scale)", v);
  sb_ref_step(t, "q = round half to even (saturating, NaN: 0)", q);
  return sb_ref_clamp(sb_ref_sat16(sb_ref_sat16(q) + zp), lo, hi);
}

/// Rule exact: (acc + bias) * scale in real numbers, no wrap; the scale is split as in dequantize.
static inline int32_t sb_ref_requantize_exact_value(int32_t acc, int32_t bias, float scale, int32_t zp,
                                                    int32_t lo, int32_t hi, const sb_ref_trace* t) {
  double sum = (double)acc + (double)bias, s0, s1;
  sb_ref_split((double)scale, 41, &s0, &s1);
  sb_ref_step(t, "acc + bias", sum);
  return sb_ref_clamp(sb_ref_exact_round(sum * s0, sum * s1, 1.0, 1.0, t) + zp, lo, hi);
}

/* ------------------------------------------------------------------------------------- matrix products */

/// How the products of one output are added. All integers; only the sums of two products in 16 bits can
/// differ.
typedef enum { SB_REF_DOT_EXACT, SB_REF_DOT_PAIRSAT, SB_REF_DOT_PAIRWRAP } sb_ref_dot_rule;

/// Value of a byte as a code of type int8 or uint8.
static inline int32_t sb_ref_code(uint8_t byte, int is_signed) {
  return is_signed && byte >= 128 ? (int32_t)byte - 256 : (int32_t)byte;
}

/// D = sum of a[i] * b[i], i < k, modulo 2^32.
/// EXACT: as it stands (ONNX Runtime on AVX-512 VNNI, SSE, arm64 with dot product).
/// PAIRSAT: a is uint8, b is int8; the sum of products 2i and 2i + 1 saturates to int16 (AVX2).
/// PAIRWRAP: a and b are int8 (a uint8 code less 128); in every 16 products, j and j + 8 are added modulo
/// 2^16 (NEON).
/// @param a, b  bytes of the codes, a_stride and b_stride bytes apart.
static inline int32_t sb_ref_dot(sb_ref_dot_rule rule, const uint8_t* a, size_t a_stride, int a_signed,
                                 const uint8_t* b, size_t b_stride, int b_signed, size_t k) {
  uint32_t sum = 0;
  size_t i, j;
  if (rule == SB_REF_DOT_EXACT) {
    for (i = 0; i < k; ++i)
      sum += (uint32_t)(sb_ref_code(a[i * a_stride], a_signed) * sb_ref_code(b[i * b_stride], b_signed));
  } else if (rule == SB_REF_DOT_PAIRSAT) {
    for (i = 0; i < k; i += 2) {
      int32_t pair = sb_ref_code(a[i * a_stride], a_signed) * sb_ref_code(b[i * b_stride], b_signed);
      if (i + 1 < k)
        pair += sb_ref_code(a[(i + 1) * a_stride], a_signed) * sb_ref_code(b[(i + 1) * b_stride], b_signed);
      sum += (uint32_t)sb_ref_sat16(pair);
    }
  } else {
    for (i = 0; i < k; i += 16) {
      for (j = i; j < i + 8 && j < k; ++j) {
        int32_t pair = sb_ref_code(a[j * a_stride], a_signed) * sb_ref_code(b[j * b_stride], b_signed);
        if (j + 8 < k)
          pair += sb_ref_code(a[(j + 8) * a_stride], a_signed) * sb_ref_code(b[(j + 8) * b_stride], b_signed);
        /* 2 * 2^14 is the only sum beyond int16 */
        sum += (uint32_t)(pair == 32768 ? -32768 : pair);
      }
    }
  }
  return sb_ref_wrap_add((int32_t)(sum & 0x7fffffffu), (sum >> 31) ? INT32_MIN : 0);
}

/// Accumulator with its zero points: D - za * column_sum - zb * row_sum + k * za * zb modulo 2^32. The sums
/// are those of the codes that D multiplies.
static inline int32_t sb_ref_gemm_acc(int32_t d, int32_t za, int32_t zb, int32_t row_sum, int32_t column_sum,
                                      size_t k, const sb_ref_trace* t) {
  uint32_t acc = (uint32_t)d - (uint32_t)za * (uint32_t)column_sum - (uint32_t)zb * (uint32_t)row_sum +
                 (uint32_t)k * (uint32_t)za * (uint32_t)zb;
  int32_t result = sb_ref_wrap_add((int32_t)(acc & 0x7fffffffu), (acc >> 31) ? INT32_MIN : 0);
  sb_ref_step(t, "D = sum of products of codes", d);
  sb_ref_step(t, "acc = D less the zero points' terms (wrapping)", result);
  return result;
}

/// Rule f32: f32(f32(acc) * scale), plus bias where there is one: two roundings (x64).
/// Rule f32_fused: fma(f32(acc), scale, bias): one (arm64).
static inline float sb_ref_gemm_to_float(int32_t acc, float scale, const float* bias, int fused,
                                         const sb_ref_trace* t) {
  float v = (float)acc;
  sb_ref_step(t, "f32(acc)", v);
  if (fused && bias) return sb_ref_fma(v, scale, *bias);
  v = v * scale;
  sb_ref_step(t, "v = f32(acc) * scale", v);
  return bias ? v + *bias : v;
}

/* ---- rule exact of matrix products: integers of any length, 32 bits a limb, lowest first */

#define SB_REF_LIMBS 16
typedef struct {
  uint32_t limb[SB_REF_LIMBS];
  int32_t exponent; /* value = sign * limbs * 2^exponent */
  int sign;         /* -1 or 1 */
} sb_ref_big;

static inline int sb_ref_big_bits(const sb_ref_big* x) {
  int i = SB_REF_LIMBS - 1, bits = 0;
  uint32_t top;
  while (i > 0 && x->limb[i] == 0) --i;
  for (top = x->limb[i]; top != 0; top >>= 1) ++bits;
  return 32 * i + bits;
}

static inline int sb_ref_big_bit(const sb_ref_big* x, int index) {
  return index < 0 || index >= 32 * SB_REF_LIMBS ? 0 : (int)(x->limb[index / 32] >> (index % 32) & 1);
}

/// 1 when any of the lowest `count` bits is set.
static inline int sb_ref_big_any_below(const sb_ref_big* x, int count) {
  int i;
  for (i = 0; i < count && i < 32 * SB_REF_LIMBS; ++i)
    if (sb_ref_big_bit(x, i)) return 1;
  return 0;
}

static inline void sb_ref_big_shift_left(sb_ref_big* x, int count) {
  sb_ref_big y = *x;
  int i;
  memset(y.limb, 0, sizeof y.limb);
  for (i = 0; i < 32 * SB_REF_LIMBS - count; ++i)
    if (sb_ref_big_bit(x, i)) y.limb[(i + count) / 32] |= (uint32_t)1 << ((i + count) % 32);
  y.exponent -= count;
  *x = y;
}

/// Significand of a finite float, 2^23 .. 2^24 - 1 (0 for 0), its exponent and sign.
static inline uint32_t sb_ref_significand(float v, int32_t* exponent, int* sign) {
  uint32_t bits, m;
  memcpy(&bits, &v, sizeof bits);
  *sign = bits >> 31 ? -1 : 1;
  *exponent = (int32_t)(bits >> 23 & 0xff);
  m = bits & 0x7fffffu;
  if (*exponent != 0) m |= 0x800000u;
  else *exponent = 1;
  *exponent -= 150;
  while (m != 0 && m < 0x800000u) {
    m <<= 1;
    --*exponent;
  }
  return m;
}

/// v * factor[0] * factor[1] ..., exactly; |v| < 2^33, at most three factors: 105 bits.
static inline sb_ref_big sb_ref_big_product(int64_t v, const float* factor, int count) {
  sb_ref_big x;
  uint64_t magnitude = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v, carry;
  int i, j, sign;
  memset(&x, 0, sizeof x);
  x.sign = v < 0 ? -1 : 1;
  x.limb[0] = (uint32_t)magnitude;
  x.limb[1] = (uint32_t)(magnitude >> 32);
  for (i = 0; i < count; ++i) {
    int32_t exponent;
    const uint32_t m = sb_ref_significand(factor[i], &exponent, &sign);
    carry = 0;
    for (j = 0; j < SB_REF_LIMBS; ++j) {
      carry += (uint64_t)x.limb[j] * m;
      x.limb[j] = (uint32_t)carry;
      carry >>= 32;
    }
    x.exponent += exponent;
    x.sign *= sign;
  }
  return x;
}

/// x / divisor to the nearest integer, half to even; beyond +-2^30 some integer beyond. divisor is finite,
/// not 0.
static inline int32_t sb_ref_big_divide_round(sb_ref_big x, float divisor) {
  int32_t exponent, q = 0;
  int sign, shift, i, bits, half, sticky;
  uint64_t rest = 0;
  const uint32_t m = sb_ref_significand(divisor, &exponent, &sign);
  sign *= x.sign;
  bits = sb_ref_big_bits(&x);
  if (bits == 0) return 0;
  shift = exponent - x.exponent; /* value = limbs / m / 2^shift */
  if (bits - 24 - shift > 32) return sign * (1 << 30);
  if (bits - 23 - shift < -1) return 0; /* below 1/4 */
  if (shift < 1) {                      /* at most 56 bits then: room for one bit below the integer */
    sb_ref_big_shift_left(&x, 1 - shift);
    shift = 1;
  }
  for (i = SB_REF_LIMBS - 1; i >= 0; --i) {
    rest = rest << 32 | x.limb[i];
    x.limb[i] = (uint32_t)(rest / m);
    rest %= m;
  }
  if (sb_ref_big_bits(&x) - shift > 30) return sign * (1 << 30);
  for (i = 29; i >= 0; --i) q = 2 * q + sb_ref_big_bit(&x, shift + i);
  half = sb_ref_big_bit(&x, shift - 1);
  sticky = rest != 0 || sb_ref_big_any_below(&x, shift - 1);
  if (half && (sticky || (q & 1))) ++q;
  return sign * q;
}

/// x + bias, rounded once to float32. bias is finite.
static inline float sb_ref_big_add_round(sb_ref_big x, float bias) {
  sb_ref_big y, *large, *small;
  int32_t exponent;
  int sign, i, gap, bits, drop;
  double d = 0;
  memset(&y, 0, sizeof y);
  y.limb[0] = sb_ref_significand(bias, &exponent, &sign);
  y.exponent = exponent;
  y.sign = sign;
  if (sb_ref_big_bits(&y) == 0 && sb_ref_big_bits(&x) == 0) return (x.sign < 0 && y.sign < 0) ? -0.0f : 0.0f;
  if (sb_ref_big_bits(&x) == 0) return bias;
  if (sb_ref_big_bits(&y) != 0) {
    large = x.exponent >= y.exponent ? &x : &y;
    small = large == &x ? &y : &x;
    gap = large->exponent - small->exponent;
    if (gap > 256) { /* 150 bits below the last bit of the larger, its sign is all that counts */
      memset(small->limb, 0, sizeof small->limb);
      small->limb[0] = 1;
      small->exponent = large->exponent - 256;
      gap = 256;
    }
    sb_ref_big_shift_left(large, gap);
    if (x.sign == y.sign) {
      uint64_t carry = 0;
      for (i = 0; i < SB_REF_LIMBS; ++i) {
        carry += (uint64_t)x.limb[i] + y.limb[i];
        x.limb[i] = (uint32_t)carry;
        carry >>= 32;
      }
    } else {
      int64_t borrow = 0;
      for (i = 0; i < SB_REF_LIMBS; ++i) {
        borrow += (int64_t)x.limb[i] - (int64_t)y.limb[i];
        x.limb[i] = (uint32_t)(borrow & 0xffffffff);
        borrow = borrow < 0 ? -1 : 0;
      }
      if (borrow < 0) { /* |y| is greater: negate */
        uint64_t carry = 1;
        for (i = 0; i < SB_REF_LIMBS; ++i) {
          carry += (uint32_t)~x.limb[i];
          x.limb[i] = (uint32_t)carry;
          carry >>= 32;
        }
        x.sign = y.sign;
      }
    }
  }
  bits = sb_ref_big_bits(&x);
  if (bits == 0) return 0.0f;
  /* The leading 40 bits, the last one set when anything was cut off: rounds like the whole number. */
  drop = bits > 40 ? bits - 40 : 0;
  for (i = bits - 1; i >= drop; --i) d = 2 * d + sb_ref_big_bit(&x, i);
  if (drop && sb_ref_big_any_below(&x, drop) && !sb_ref_big_bit(&x, drop)) d += 1;
  for (exponent = x.exponent + drop; exponent > 0 && d < 1e300; --exponent) d *= 2;
  for (; exponent < 0 && d > 1e-250; ++exponent) d *= 0.5;
  return (float)(x.sign * d);
}

/// Rule exact, codes: (acc + c) * alpha * a_scale * b_scale / y_scale in real numbers, rounded once (half to
/// even), then the zero point, saturating.
static inline int32_t sb_ref_gemm_exact_code(int32_t acc, int32_t c, float alpha, float a_scale,
                                             float b_scale, float y_scale, int32_t zp, int32_t lo,
                                             int32_t hi) {
  const float factor[3] = {alpha, a_scale, b_scale};
  return sb_ref_clamp(sb_ref_big_divide_round(sb_ref_big_product((int64_t)acc + c, factor, 3), y_scale) + zp,
                      lo, hi);
}

/// Rule exact, float32: (acc + c) * alpha * a_scale * b_scale + bias in real numbers, rounded once.
static inline float sb_ref_gemm_exact_float(int32_t acc, int32_t c, float alpha, float a_scale, float b_scale,
                                            float bias) {
  const float factor[3] = {alpha, a_scale, b_scale};
  return sb_ref_big_add_round(sb_ref_big_product((int64_t)acc + c, factor, 3), bias);
}

#endif /* SAMEBIT_REFERENCE_H */
