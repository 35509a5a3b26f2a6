// SPDX-License-Identifier: LGPL-2.1-or-later
// Unpacks the page's data, which page_data.cpp packed. The blob is gzip in base64:
//
//   | length of the document, 4 bytes | document, JSON | first bytes of all floats | second ... |
//
// Unknown numbers are null in the document, and NaN in series.

import {byId} from './format.js';

export const percentileNames = ['p50', 'p90', 'p95', 'p99', 'p999'];

async function unpack(base64) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Joins the bytes of each float.
function joinPlanes(planes) {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; ++plane)
    for (let i = 0; i < count; ++i) bytes[4 * i + plane] = planes[plane * count + i];
  const view = new DataView(bytes.buffer);
  const floats = new Float32Array(count);
  for (let i = 0; i < count; ++i) floats[i] = view.getFloat32(4 * i, true);
  return floats;
}

// In milliseconds. Javascript's own parser ignores smaller parts.
export const timeOf = (text) =>
    Date.parse(`${text.slice(0, 23)}Z`) + Number(`0.${text.slice(23, -1)}`);

function runOf(run) {
  const [begin, end] = [run.begin, run.end].map(timeOf);
  return {...run, begin, end, gaps: run.gaps.map((gap) => [gap.begin, gap.end].map(timeOf))};
}

export function tagsOf(tags) {
  return tags.map(({slowest, ...tag}) => {
    if (!slowest) return tag;
    const at = slowest.at && timeOf(slowest.at);
    return {...tag, slowest: {...slowest, at, value: slowest.max ?? slowest.p99}};
  });
}

// The points of a grid: their middles for drawing, and lengths in seconds.
export function gridOf(edges) {
  const count = Math.max(0, edges.length - 1);
  const middles = new Float64Array(count);
  const seconds = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    middles[i] = (edges[i] + edges[i + 1]) / 2;
    seconds[i] = (edges[i + 1] - edges[i]) / 1000;
  }
  return {edges, count, middles, seconds};
}

// Each bin is stored as the distance from the previous one.
function readBins({bins, ...others}) {
  let last = 0;
  return {...others, bins: bins.map((distance) => last += distance)};
}

function seriesOf(packed, data, floats) {
  const grid = packed.coarse ? data.coarse : data.fine;
  const series = {tag: packed.tag, grid, heat: packed.heat?.map(readBins)};
  for (const [name, place] of Object.entries(packed.columns))
    series[name] = floats.subarray(place, place + grid.count);
  return series;
}

export function addDistributions(tags, distributions) {
  for (const {tag, ...distribution} of distributions)
    tags[tag].distribution = readBins(distribution);
}

function baseOf({run, tags, distributions}) {
  const base = {run: runOf(run), tags: tagsOf(tags)};
  addDistributions(base.tags, distributions);
  return base;
}

export async function readData() {
  const bytes = await unpack(byId('data').textContent.trim());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const document_ = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const floats = joinPlanes(bytes.subarray(4 + length));
  const {whole, page: facts} = document_;
  const data = {run: {...runOf(document_.run), ...facts}, whole, tags: tagsOf(document_.tags)};
  data.fine = gridOf(document_.fine);
  data.coarse = gridOf(document_.coarse);
  for (const packed of document_.series)
    data.tags[packed.tag].series = seriesOf(packed, data, floats);
  const pointsOf = (place) => floats.subarray(place, place + data.fine.count);
  data.host = {
    values: (document_.host_metrics || []).map((its) => ({...its, points: pointsOf(its.points)})),
    leftOut: document_.host_metrics_left_out
  };
  addDistributions(data.tags, document_.distributions);
  data.figures = document_.figures;
  data.spans = document_.spans;
  data.exemplars = document_.exemplars;
  data.imbalances = document_.imbalances;
  data.groupings = document_.groupings;
  data.groups = document_.groups;
  if (document_.base) data.base = baseOf(document_.base);
  data.comparison = document_.comparison;
  return data;
}

// The lower edge of a histogram's bin; see histogram_bins.hpp for the numbering.
export function lowerEdge(bin, coarseness) {
  if (bin < 0) return -lowerEdge(~bin + 1, coarseness);
  const magnitude = bin * 2 ** coarseness;
  if (magnitude < 32) return 0;
  return 2 ** (Math.floor(magnitude / 32) - 1023) * (1 + (magnitude % 32) / 32);
}

export function upperEdge(bin, coarseness) {
  return bin < 0 ? -lowerEdge(~bin, coarseness) : bin === 0 ? 0 : lowerEdge(bin + 1, coarseness);
}
