'use strict';
// Runs the models of one work folder, in order, through the ONNX Runtime of PACKAGES. Started by machines.py.
//
//   node worker.js PACKAGES FOLDER OUTPUT
//
// FOLDER/plan.json  [{model: file, runs: [[{name, type, dims, at, size}, ...feeds], ...]}, ...]
// FOLDER/in.bin     the bytes of every feed; `at` and `size` point into it
// OUTPUT.bin        the bytes of every result, one after the other
// OUTPUT.json       one entry a run: the number of its bytes, or the error text when the run was refused
const fs = require('fs');
const path = require('path');
const [packages, folder, output] = process.argv.slice(2);
const ort = require(path.join(packages, 'node_modules', 'onnxruntime-node'));

const VIEW = {float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array};
// One thread; no graph rewriting, so that the operator asked for is the operator that runs.
const OPTIONS = {executionProviders: ['cpu'], graphOptimizationLevel: 'disabled', intraOpNumThreads: 1,
  interOpNumThreads: 1, logSeverityLevel: 4};

const file = fs.readFileSync(path.join(folder, 'in.bin'));
const input = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);

function tensor(feed) {
  const view = VIEW[feed.type];
  return new ort.Tensor(feed.type, new view(input, feed.at, feed.size / view.BYTES_PER_ELEMENT), feed.dims);
}

async function main() {
  const sink = fs.openSync(output + '.bin', 'w');
  const report = [];
  for (const {model, runs} of JSON.parse(fs.readFileSync(path.join(folder, 'plan.json'), 'utf8'))) {
    const session = await ort.InferenceSession.create(path.join(folder, model), OPTIONS);
    for (const run of runs) {
      try {
        const feeds = Object.fromEntries(run.map(feed => [feed.name, tensor(feed)]));
        const results = await session.run(feeds);
        let size = 0;
        for (const name of session.outputNames) {
          const {data} = results[name];
          fs.writeSync(sink, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
          size += data.byteLength;
        }
        report.push(size);
      } catch (error) {
        report.push(String(error));
      }
    }
  }
  fs.closeSync(sink);
  // The report appears whole or not at all: its presence tells the driver that everything is written.
  fs.writeFileSync(output + '.part', JSON.stringify(report));
  fs.renameSync(output + '.part', output + '.json');
  process.exit(0);
}

main();
