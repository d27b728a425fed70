"""Writes test/golden/<operator>.txt from the answers of six machines. Started by make.sh.

The header of each file documents its columns and how its inputs are made; test/golden_test.cpp makes the same inputs.
"""
import os
import sys

import numpy as np
import xxhash

from machines import HERE, MACHINES, Batch

F = np.float32
FOLDER = os.path.join(HERE, "../../test/golden")
LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int32": (-2**31, 2**31 - 1)}
np.seterr(all="ignore")


# ---------------------------------------------------------------- numbers
def splitmix64(seed, n):
    """The first n outputs for a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


class Draw:
    """Numbers for parameter sets, one splitmix64 output each."""

    def __init__(self, seed):
        self.values = iter(splitmix64(seed, 100000).tolist())

    def below(self, n):
        return (next(self.values) >> 32) * n >> 32

    def between(self, lo, hi):
        return lo + self.below(hi - lo + 1)

    def scale(self, lo, hi):
        """Any mantissa, exponent lo..hi."""
        return F(np.ldexp(F(1) + F(self.below(1 << 23)) / F(1 << 23), self.between(lo, hi)))

    def zero_point(self, element):
        lo, hi = LIMITS[element]
        return [lo, hi, self.between(lo, hi), self.between(lo, hi)][self.below(4)]


def bits(x):
    return f"{np.asarray(x, F).view(np.uint32).item():08x}"


def from_bits(b):
    return np.uint32(b).view(F)


def ulps(x, n):
    return from_bits((int(np.asarray(x, F).view(np.uint32)) + n) & 0xFFFFFFFF)


def one_nan(raw):
    """float32 bytes in which one NaN stands for all: the bits of others are the CPU's."""
    x = np.frombuffer(raw, np.uint32).copy()
    x[np.isnan(x.view(F))] = 0x7FC00000
    return x.tobytes()


def digest(raw):
    return xxhash.xxh64(raw, seed=0).hexdigest()


# ---------------------------------------------------------------- files
def write(operator, header, lines, batch, unlike=lambda line: False, normal=lambda line, raw: raw):
    """lines: the text before the digests, one a run of the batch, in the order the batch answers. Where unlike(line), the
    newest arm64 machine gets no digest. normal(line, raw): the bytes to be digested."""
    columns = []
    for machine, results in batch.results():
        errors = [r for r in results if isinstance(r, str)]
        if errors:
            raise RuntimeError(f"{operator} on {machine}: {len(errors)} runs refused, first: {errors[0]}")
        print(f"{operator} {machine}: {len(results)} cases", flush=True)
        skipped = [machine == "arm64-max" and unlike(line) for line in lines]
        columns.append(["-" if skip else digest(normal(line, r)) for line, skip, r in zip(lines, skipped, results)])
    text = "".join(f"# {line}\n" for line in header.strip().split("\n"))
    text += f"# digests: XXH64 (seed 0) of the output bytes on {' '.join(MACHINES)}\n"
    for i, line in enumerate(lines):
        text += line + " " + " ".join(column[i] for column in columns) + "\n"
    with open(os.path.join(FOLDER, operator + ".txt"), "w") as f:
        f.write(text)
    names = list(MACHINES)
    for a in range(len(names)):
        for b in range(a):
            n = sum(x != y for x, y in zip(columns[a], columns[b]))
            if n:
                print(f"  {names[b]} and {names[a]}: {n} of {len(lines)} cases differ")


PAIRS = """ONNX Runtime 1.30.0, com.microsoft {op}. Columns: type, form, then scale (float32 bits) and zero point of a, b, y.
Every case covers all 65,536 pairs of codes; k is the index of the output.
  vector    a and b of shape [65536]          a = byte(k % 256), b = byte(k / 256)
  scalar_a  a of shape [256,1], b of [1,256]  a = byte(k / 256), b = byte(k % 256)
  scalar_b  a of shape [1,256], b of [256,1]  a = byte(k % 256), b = byte(k / 256)"""


def pair_operator(operator, op, sets, forms_of):
    batch, lines = Batch(), []
    codes = np.arange(256, dtype=np.uint8)
    for element in ("int8", "uint8"):
        scalar = [(n, t) for n, t in zip(
            ("A", "As", "Az", "B", "Bs", "Bz", "Cs", "Cz"),
            (element, "float32", element, element, "float32", element, "float32", element))]
        model = batch.model(op, "com.microsoft", scalar, element)
        for index, (sa, za, sb, zb, sy, zy) in enumerate(sets):
            # Sets are written for int8; the same codes in uint8 are 128 higher.
            shift = 0 if element == "int8" else 128
            za, zb, zy = za + shift, zb + shift, zy + shift
            for form in forms_of(index):
                a = np.tile(codes, 256) if form == "vector" else codes.reshape(256, 1) if form == "scalar_a" else codes.reshape(1, 256)
                b = np.repeat(codes, 256) if form == "vector" else codes.reshape(1, 256) if form == "scalar_a" else codes.reshape(256, 1)
                batch.run(model, {"A": a.view(element), "As": F(sa), "Az": np.array(za, element), "B": b.view(element),
                                  "Bs": F(sb), "Bz": np.array(zb, element), "Cs": F(sy), "Cz": np.array(zy, element)})
                lines.append(f"{element} {form} {bits(sa)} {za} {bits(sb)} {zb} {bits(sy)} {zy}")
    write(operator, PAIRS.format(op=op), lines, batch)


def pair_sets(seed, count):
    """Ties, near ties, limits of the arithmetics, odd scales, and ordinary sets."""
    d = Draw(seed)
    nan, inf = F(np.nan), F(np.inf)
    z = lambda: d.zero_point("int8")
    sets = [
        (0.008010663092136383, 7, 0.00622713053599, -128, 0.006873490754514933, -128),
        (0.013721438124775887, -27, 0.026481106877326965, 92, 0.001596352201886475, -118),
        (0.020213529467582703, -38, 0.0010725341271609068, 51, 0.0030113174580037594, -105),
        (0.0012995193246752024, -122, 0.042162247002124786, 19, 0.013795585371553898, -47),
        (1.0, -25, 1.75, -13, 1.0, 110), (0.5, 0, 0.5, 0, 1.0, 0), (0.5, 3, 0.5, -4, 1.0, 7),
        (1e30, 0, 1, 0, 1, 0), (1, 0, 1, 0, 0, 5), (1, 0, nan, 0, 1, 5), (nan, 0, 1, 0, 1, 5), (1, 3, 1, 4, nan, 5),
        (inf, 0, 1, 0, 1, 3), (1, 2, -inf, 0, 1, 3), (1, 2, 1, 3, inf, 4), (-0.5, 2, 0.75, 3, 1, 4), (0.5, 2, 0.75, 3, -1, 4),
        (0, 2, 0.5, 3, 1, 4), (0.5, 2, 0, 3, 1, 4), (F(1e-45), 2, 0.5, 3, F(1e-44), 4), (1e-40, 2, 1e-40, 3, 1e-40, 4)]
    for ratio in (2.0**-14, 256.0):
        for n in (-1, 0, 1):
            sets.append((ulps(ratio, n), z(), 0.5, z(), 1.0, z()))
            sets.append((0.25, z(), ulps(ratio, n), z(), 1.0, z()))
    for e in (-12, -3, 0, 6):  # multipliers that round up to 2^22, shifts at both ends
        sets.append((ulps(2.0**e, -1), z(), 2.0**-13, z(), 1.0, z()))
    for e in (-9, -7, -3):  # both multipliers next to 2^22, the largest sums
        sets.append((ulps(2.0**e, -3), -128, ulps(2.0**e, -4), -128, 1.0, z()))
        sets.append((ulps(2.0**e, -4), 127, ulps(2.0**e, -3), 127, 1.0, z()))
    sixteenth = lambda: F(1 + d.below(63)) / F(16)
    while len(sets) < count:
        kind = len(sets) % 5
        if kind == 0:
            sets.append((sixteenth(), z(), sixteenth(), z(), 1.0, z()))
        elif kind == 1:
            sets.append((ulps(sixteenth(), d.between(-3, 3)), z(), ulps(sixteenth(), d.between(-3, 3)), z(), 1.0, z()))
        elif kind == 2:
            y = d.scale(-8, -1)
            sets.append((F(y * F(2.0**d.between(-3, 1))), z(), F(y * F(2.0**d.between(-3, 1))), z(), y, z()))
        else:
            sets.append((d.scale(-9, -2), z(), d.scale(-9, -2), z(), d.scale(-8, -1), z()))
    return sets


def qlinear_add():
    pair_operator("qlinear_add", "QLinearAdd", pair_sets(1, 72), lambda i: ("vector", "scalar_a", "scalar_b"))


def qlinear_mul():
    pair_operator("qlinear_mul", "QLinearMul", pair_sets(2, 62), lambda i: ("vector", "scalar_b") if i % 8 == 0 else ("vector",))


SPECIALS = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7F7FFFFF,
            0xFF7FFFFF, 0x00000001, 0x80000001, 0x00800000, 0x80800000, 0x4F000000, 0xCF000000, 0x501502F9, 0xD01502F9,
            0x3F000000, 0xBF000000, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000]


def quantize_input(scale, seed, count):
    raw = (splitmix64(seed, count) >> np.uint64(32)).astype(np.uint32)
    ties = ((np.arange(-300, 300).astype(F) + F(0.5)) * F(scale)).astype(F).view(np.uint32)
    around = (ties[:, None].astype(np.int64) + np.arange(-2, 3)[None, :]).astype(np.uint64).astype(np.uint32).ravel()
    return np.concatenate([raw, around, np.array(SPECIALS, np.uint32)]).view(F)


def quantize_linear():
    batch, lines, d = Batch(), [], Draw(3)
    scales = [F(v) for v in (0.1, 1 / 255, 1 / 127.5, 1 / 3, 0.5, 1, 2, 0.25, 1 / 42.5, 1e-3, 123.456, 0, -0.0, -0.1, -2,
                             np.inf, -np.inf, np.nan, 1e-45, 1e-40, 2.0**-100, 2.0**100, 2.0**-101, 1e-38, 3e38)]
    scales += [from_bits(b) for b in (0x3F7FFFFF, 0x3C000001, 0x3C000010, 0x3C007FF5, 0x3BFFFFFF)]
    scales += [d.scale(-10, 3) for _ in range(14)]
    for element in ("int8", "uint8"):
        model = batch.model("QuantizeLinear", "", [("X", "float32"), ("S", "float32"), ("Z", element)], element)
        lo, hi = LIMITS[element]
        for i, scale in enumerate(scales):
            for zp in sorted({lo, hi, [0, 1, 3, 100][i % 4]}) if i % 3 == 0 else {d.between(lo, hi)}:
                seed = 1000 + i
                batch.run(model, {"X": quantize_input(scale, seed, 1000), "S": scale, "Z": np.array(zp, element)})
                lines.append(f"{element} {bits(scale)} {zp} {seed} 1000")
    write("quantize_linear", """ONNX Runtime 1.30.0, QuantizeLinear (opset 13), float32 input, per tensor.
Columns: output type, scale (float32 bits), zero point, seed, count. Inputs, as float32 bits:
  count values: the upper 32 bits of the outputs of splitmix64(seed)
  for k = -300 .. 299: bits of f32(f32(k + 0.5) * scale) less 2, less 1, itself, plus 1, plus 2 (modulo 2^32)
  """ + " ".join(f"{b:08x}" for b in SPECIALS), lines, batch)


WORDS = [-2**31, 2**31 - 1, 0, 1, -1, 2**24 + 1, -2**24 - 1, 2**24 + 3, -2**24 - 3, 2**30 + 1, -2**30 - 1]


def dequantize_linear():
    batch, lines, d = Batch(), [], Draw(4)
    scales = [F(v) for v in (0.1, 1, 1 / 255, 0.5, 3e38, 1e-45, 1e-38, 0, -0.0, -0.3, np.inf, -np.inf)]
    scales += [from_bits(b) for b in (0x7FC12345, 0xFFC00001)]  # NaN keeps its payload
    scales += [d.scale(-12, 5) for _ in range(8)]
    for element in ("int8", "uint8", "int32"):
        model = batch.model("DequantizeLinear", "", [("X", element), ("S", "float32"), ("Z", element)], "float32")
        lo, hi = LIMITS[element]
        for i, scale in enumerate(scales):
            if element == "int32":
                zp, seed, count = [0, lo, hi, 12345, -2**30, 1][i % 6], 2000 + i, 1000
                x = np.concatenate([(splitmix64(seed, count) >> np.uint64(32)).astype(np.uint32).view(np.int32),
                                    np.array(WORDS, np.int32)])
            else:
                zp, seed, count = [lo, hi, d.between(lo, hi)][i % 3], 0, 256
                x = np.arange(256, dtype=np.uint8).view(element)
            batch.run(model, {"X": x, "S": scale, "Z": np.array(zp, element)})
            lines.append(f"{element} {bits(scale)} {zp} {seed} {count}")
    write("dequantize_linear", """ONNX Runtime 1.30.0, DequantizeLinear (opset 13), per tensor.
Columns: input type, scale (float32 bits), zero point, seed, count. Inputs: int8 and uint8 all 256 codes in byte order;
int32 count values, the upper 32 bits of the outputs of splitmix64(seed), then
  """ + " ".join(str(w) for w in WORDS), lines, batch)


FACTORS = [F(v) for v in (1, 0.5, 0.25, 1.5, 0.75, 2, 0.125, 1.25)]
EDGES = [-2**31, 2**31 - 1, -2**31 + 100, 2**31 - 101]


def requantize_input(scale, column, seed, count):
    """acc (a weight's product with 1), bias, scales."""
    acc, bias, scales = np.empty(count, np.int8), np.empty(count, np.int32), np.empty(count, F)
    for i, u in enumerate(splitmix64(seed, count).tolist()):
        acc[i] = (u & 255) - 128
        v = (u >> 32) - (1 << 32 if u >> 63 else 0)
        bias[i] = [v, v >> 12, v >> 20, EDGES[u >> 10 & 3]][u >> 8 & 3]
        scales[i] = F(scale) * (FACTORS[u >> 16 & 7] if column else F(1))
    return acc, bias, scales


def requantize():
    batch, lines, d, count = Batch(), [], Draw(5), 2048
    scales = [F(v) for v in (0.5, 0.25, 2.0**-12, 2.0**-20, 1.5 * 2.0**-13, 1, 1e-3, 0.1, 1e-7, 1e-9, 3e-5, 1e30, 3e38, 1e-40,
                             0, -0.0, -0.25, np.nan, np.inf, -np.inf)]
    scales += [d.scale(-24, 0) for _ in range(10)]
    for element in ("int8", "uint8"):
        names = [("X", element), ("xs", "float32"), ("xz", element), ("W", "int8"), ("ws", "float32"), ("wz", "int8"),
                 ("ys", "float32"), ("yz", element), ("B", "int32")]
        model = batch.model("QLinearConv", "", names, element)
        lo, hi = LIMITS[element]
        for i, scale in enumerate(scales):
            for mode in ("tensor", "column"):
                zp, seed = [lo, hi, d.between(lo, hi), 0][(i + (mode == "column")) % 4], 3000 + i
                acc, bias, per_column = requantize_input(scale, mode == "column", seed, count)
                ws = per_column if mode == "column" else F(scale)
                batch.run(model, {"X": np.full((1, 1, 1, 1), 6, element), "xs": F(1), "xz": np.array(5, element),
                                  "W": acc.reshape(count, 1, 1, 1), "ws": ws,
                                  "wz": np.zeros(count, np.int8) if mode == "column" else np.array(0, np.int8),
                                  "ys": F(1), "yz": np.array(zp, element), "B": bias})
                lines.append(f"{element} {mode} {zp} {bits(scale)} {seed} {count}")
    write("requantize", """ONNX Runtime 1.30.0, the requantization inside QLinearConv: one pixel and input channel of value 1 (code 6, zero
point 5), x and y scales 1, `count` output channels of a 1x1 kernel whose int8 weights are the accumulators, int32 bias.
Columns: output type, tensor or column (scale per channel), y zero point, scale (float32 bits), seed, count.
For each output u of splitmix64(seed), v = its upper 32 bits as int32:
  acc = (u & 255) - 128;  bias = v, v >> 12, v >> 20 or an edge, by (u >> 8) & 3
  edges: """ + " ".join(str(e) for e in EDGES) + """, by (u >> 10) & 3
  column: f32(scale * factor), factors 1 0.5 0.25 1.5 0.75 2 0.125 1.25, by (u >> 16) & 7""", lines, batch)


MATMUL_SHAPES = [(1, 1, 1), (3, 5, 9), (6, 64, 16), (7, 17, 33), (13, 65, 70), (1, 80, 129), (8, 16, 384), (24, 10, 256),
                 (2, 3, 1500), (40, 40, 40), (5, 7, 2), (9, 33, 31)]
EXTREMES = np.array([0, 255, 128, 127], np.uint8)


class Stream:
    """The upper 32 bits of splitmix64's outputs, one after the other."""

    def __init__(self, seed):
        self.values, self.at = (splitmix64(seed, 400000) >> np.uint64(32)).astype(np.uint32), 0

    def take(self, n):
        self.at += n
        return self.values[self.at - n:self.at]


def matmul_input(case):
    """Everything a line stands for; the header says how. case: op, types, m, n, k, zero points, scales, c, kind, seed."""
    op, ta, tb, m, n, k, za, zb, sa, sb, sy, zy, alpha, c, kind, seed = case
    s = Stream(seed)
    codes = lambda count: (s.take(count) & 255).astype(np.uint8) if kind == 0 else EXTREMES[s.take(count) & 3]
    a, b = codes(m * k).view(ta).reshape(m, k), codes(k * n).view(tb).reshape(k, n)
    lo = LIMITS[tb][0]
    zb_values = (lo + (s.take(n if zb == "column" else 1) & 255).astype(np.int64)).astype(tb) if zb != "none" else None
    if zb == "tensor":
        zb_values = np.array(zb_values[0])
    column_scales = (F(sb[1]) * np.array(FACTORS, F)[s.take(n) & 7]).astype(F) if sb[0] == "column" else F(sb[1])
    shape = {"none": None, "one": (1,), "columns": (n,), "rows": (m, 1), "all": (m, n)}[c]
    c_values = None
    if shape is not None:
        raw = s.take(int(np.prod(shape))).view(np.int32)
        c_values = np.where(raw & 1, raw, raw >> 14).astype(np.int32).reshape(shape)
    return a, b, zb_values, column_scales, c_values


def matmul():
    batch, lines, d, seed = Batch(), [], Draw(6), 4000
    models = {}

    def add(op, ta, tb, shape, za, zb, sa, sb, sy, zy, alpha, c, kind):
        nonlocal seed
        seed += 1
        m, n, k = shape
        a, b, zb_values, scales, c_values = matmul_input((op, ta, tb, m, n, k, za, zb, sa, sb, sy, zy, alpha, c, kind, seed))
        # MatMulIntegerToFloat's bias is c as float32 times f32(a_scale * b_scale).
        if op == "MatMulInteger":
            inputs = [("A", ta, a), ("B", tb, b), ("Az", ta, np.array(za, ta)), ("Bz", tb, zb_values)]
            domain, output = "", "int32"
        elif op == "QLinearMatMul":
            inputs = [("A", ta, a), ("As", "float32", F(sa)), ("Az", ta, np.array(za, ta)), ("B", tb, b),
                      ("Bs", "float32", scales), ("Bz", tb, zb_values), ("Ys", "float32", F(sy)), ("Yz", ta, np.array(zy, ta))]
            domain, output = "", ta
        elif op == "MatMulIntegerToFloat":
            bias = None if c_values is None else (c_values.astype(F) * (F(sa) * F(sb[1]))).astype(F)
            inputs = [("A", ta, a), ("B", tb, b), ("As", "float32", F(sa)), ("Bs", "float32", scales), ("Az", ta, np.array(za, ta)),
                      ("Bz", tb, zb_values), ("bias", "float32", bias)]
            domain, output = "com.microsoft", "float32"
        else:
            inputs = [("A", ta, a), ("As", "float32", F(sa)), ("Az", ta, np.array(za, ta)), ("B", tb, b),
                      ("Bs", "float32", scales), ("Bz", tb, zb_values), ("C", "int32", c_values)]
            if op == "QGemm":
                inputs += [("Ys", "float32", F(sy)), ("Yz", ta, np.array(zy, ta))]
            domain, output = "com.microsoft", ta if op == "QGemm" else "float32"
        given = tuple((name if value is not None else "", element) for name, element, value in inputs)
        key = (op, given, output, float(alpha))
        if key not in models:
            attributes = {"alpha": float(alpha), "transA": 0, "transB": 0} if op.startswith("QGemm") else {}
            models[key] = batch.model("QGemm" if op.startswith("QGemm") else op, domain, list(given), output, **attributes)
        batch.run(models[key], {name: value for name, _, value in inputs if value is not None})
        lines.append((models[key], f"{op} {ta} {tb} {m} {n} {k} {za} {zb} {bits(sa)} {sb[0]} {bits(sb[1])} {bits(sy)} {zy} {bits(alpha)} "
                                   f"{c} {kind} {seed}"))

    specials = [F(np.nan), F(np.inf), F(0), F(-0.01), F(1e-40)]
    for op in ("MatMulInteger", "QLinearMatMul", "QGemm", "QGemmFloat", "MatMulIntegerToFloat"):
        pairs = [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")] + ([("int8", "uint8")] if op == "MatMulInteger" else [])
        for ta, tb in pairs:
            for i, shape in enumerate(MATMUL_SHAPES):
                column = i % 3 == 0
                # b_scale and b_zero_point of QGemm have one shape.
                zb = "column" if column else "tensor" if op.startswith("QGemm") or op == "QLinearMatMul" or i % 2 else "none"
                sb = ("column" if column else "tensor", [2.0**-6, 0.013, 1.5 * 2.0**-7][i % 3])
                sa = [0.5, 0.0213, 2.0**-5][i // 3 % 3]
                sy = [1.0, 0.75, 3.7, 16.0][i % 4]
                if op in ("QLinearMatMul", "QGemm") and i >= 10:  # scales without a meaning have one answer per machine
                    sa = specials[(i + len(lines)) % 5]
                forms = {"QGemm": ("none", "one", "columns", "rows", "all"), "QGemmFloat": ("none", "one", "columns", "rows", "all"),
                         "MatMulIntegerToFloat": ("none", "columns")}.get(op, ("none",))
                alpha = [1.0, 0.3, 1.25][i % 3] if op.startswith("QGemm") else 1.0
                add(op, ta, tb, shape, d.zero_point(ta), zb, F(sa), sb, F(sy), d.zero_point(ta), F(alpha), forms[i % len(forms)], i % 2)
    write("matmul", """ONNX Runtime 1.30.0: MatMulInteger, QLinearMatMul (opset 13), com.microsoft QGemm (with and without y_scale) and
MatMulIntegerToFloat, all inputs given at run time.
Columns: operator, types of a and b, m, n, k, zero point of a, of b (none, tensor, column), a_scale (float32 bits), b_scale
(tensor or column, base), y_scale, y zero point (of the type of a), alpha, c (none, one value, columns, rows, all), kind, seed.
Inputs from the upper 32 bits u of the outputs of splitmix64(seed), in this order:
  codes of a, then of b, row-major: byte u & 255; kind 1: 0, 255, 128, 127 by u & 3
  zero points of b: lowest code + (u & 255);  column scales: f32(base * factor), factors 1 0.5 0.25 1.5 0.75 2 0.125 1.25 by u & 7
  c: u as int32 where it is odd, else u >> 14; the bias of MatMulIntegerToFloat is f32(f32(c) * f32(a_scale * base))""",
          [text for _, text in sorted(lines, key=lambda line: line[0])], batch)  # in the order of the models, as the answers


FLOAT_SPECIALS = np.array([0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0, 0x80000000], np.uint32)


def float_input(stream, kind, n):
    u = stream.take(n)
    x = u.view(np.int32).astype(F) * F(2.0**-20)
    if kind == 1:
        x = np.where(u & 15, x.view(np.uint32), FLOAT_SPECIALS[u >> 4 & 7]).astype(np.uint32).view(F)
    if kind == 2:
        x = (u & 0x807FFFFF).view(F)
    if kind == 3:
        x = u.view(F)
    if kind == 4:
        x = F(1) + (u >> 8).astype(F) * F(2.0**-10)
    if kind == 5:
        x = np.zeros(n, F)
    return x.astype(F)


def dynamic_quantize():
    batch, lines, seed = Batch(), [], 6000
    model = batch.model("DynamicQuantizeLinear", "", [("X", "float32")], [("Y", "uint8"), ("S", "float32"), ("Z", "uint8")])
    for kind in range(6):
        for n in (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 36, 40, 63, 64, 65, 100, 127, 128, 1000, 1003):
            if kind > 3 and n % 3:
                continue
            seed += 1
            batch.run(model, {"X": float_input(Stream(seed), kind, n)})
            lines.append(f"DynamicQuantizeLinear - - 0 {n} 0 - - {bits(1)} - {kind} {seed}")
    for tb in ("uint8", "int8"):
        for i, (m, n, k) in enumerate(MATMUL_SHAPES):
            seed += 1
            kind = 1 if i == 7 else 0
            column, with_bias, zb = i % 3 == 0, i % 2 == 1, "none" if i % 4 == 3 else "column" if i % 3 == 0 else "tensor"
            base = F([0.013, 2.0**-6][i % 2])
            s = Stream(seed)
            a, b = float_input(s, kind, m * k).reshape(m, k), (s.take(k * n) & 255).astype(np.uint8).view(tb).reshape(k, n)
            zero = (LIMITS[tb][0] + (s.take({"none": 0, "tensor": 1, "column": n}[zb]) & 255).astype(np.int64)).astype(tb)
            scale = (base * np.array(FACTORS, F)[s.take(n) & 7]).astype(F) if column else base
            bias = s.take(n).view(np.int32).astype(F) * F(2.0**-16) if with_bias else None
            inputs = [("A", "float32", a), ("B", tb, b), ("Bs", "float32", scale),
                      ("Bz", tb, None if zb == "none" else np.array(zero[0]) if zb == "tensor" else zero), ("bias", "float32", bias)]
            model = batch.model("DynamicQuantizeMatMul", "com.microsoft",
                                [(name if value is not None else "", element) for name, element, value in inputs], "float32")
            batch.run(model, {name: value for name, _, value in inputs if value is not None})
            lines.append(f"DynamicQuantizeMatMul uint8 {tb} {m} {n} {k} {zb} {'column' if column else 'tensor'} {bits(base)} "
                         f"{'bias' if with_bias else 'none'} {kind} {seed}")
    # A NaN behind the last whole vector of 4 counts on arm64 with SVE and not without: those machines have no profile.
    unlike = lambda line: line.split()[10] in "13" and (int(line.split()[4]) % 4 != 0 or line.startswith("DynamicQuantizeMatMul"))
    write("dynamic_quantize", """ONNX Runtime 1.30.0: DynamicQuantizeLinear (bytes of y, scale and zero point) and com.microsoft DynamicQuantizeMatMul,
all inputs given at run time.
Columns: operator, types of a and b, m, n, k (n values of DynamicQuantizeLinear), zero point of b (none, tensor, column), b_scale
(tensor or column), its base (float32 bits), bias (none, bias), kind, seed.
Inputs from the upper 32 bits u of the outputs of splitmix64(seed), in this order:
  float32 x: f32(int32(u)) * 2^-20; kind 1: where u & 15 is 0 one of """ + " ".join(f"{b:08x}" for b in FLOAT_SPECIALS) + """ by u >> 4 & 7;
    kind 2: bits u & 807fffff; kind 3: bits u; kind 4: 1 + f32(u >> 8) * 2^-10; kind 5: 0
  codes of b: u & 255; zero points: lowest code + (u & 255); column scales: f32(base * factor) as in matmul.txt
  bias: f32(int32(u)) * 2^-16
Every NaN of scale and float32 output is digested as 7fc00000.""", lines, batch, unlike,
          lambda line, raw: one_nan(raw) if line.startswith("DynamicQuantizeMatMul") else raw[:-5] + one_nan(raw[-5:-1]) + raw[-1:])


OPERATORS = {f.__name__: f for f in (qlinear_add, qlinear_mul, quantize_linear, dequantize_linear, requantize, matmul,
                                        dynamic_quantize)}

if __name__ == "__main__":
    for name in sys.argv[1:] or OPERATORS:
        if name not in OPERATORS:
            sys.exit(f"generate.py: no operator {name}; there are {', '.join(OPERATORS)}")
        OPERATORS[name]()
