// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats numbers, times and names for people, and builds elements. Texts never become markup, and
// names of programs may have any contents.

export const unknown = '–';

/** @returns {any} */
export const byId = (id) => document.getElementById(id);

// Attributes without a value are left out. Children that are no nodes become text.
function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    if (key === 'style')
      made.style.cssText = value ?? '';  // the page's policy forbids the attribute
    else if (isKnown(value) && value !== false)
      made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const element = (name, attributes = {}, ...children) =>
    filled(document.createElement(name), attributes, children);

export const strokeOf = ({color, dash}, width) =>
    ({stroke: color, 'stroke-width': width, 'stroke-dasharray': dash?.join(' ')});
export const svg = (name, attributes = {}, ...children) =>
    filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

// A bar for a share from 0 to 1. The track behind it has the length of a whole.
export const bar = (share) =>
    element('span', {class: 'track'}, element('i', {style: `width:${100 * share}%`}));

export const isKnown = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// Makes a formatter that shows a sign instead of an unknown value.
export const ifKnown = (format) => (value) => isKnown(value) ? format(value) : unknown;

// With at least `digits` significant digits, and no needless ones.
export function significant(value, digits = 3) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-6) return Number(value.toPrecision(digits)).toExponential();
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size) + 1e-12));
  return value.toLocaleString('en-US', {maximumFractionDigits: places, minimumFractionDigits: 0});
}

/** @type {[number, string][]} */
const timeUnits = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];

export const formatSeconds = ifKnown((seconds) => {
  if (seconds === 0) return '0\u202fs';
  const size = Math.abs(seconds) / 0.9995;  // 999.5 ms and more would round to 1,000 ms
  if (size >= 600) return formatElapsed(seconds);
  const [scale, unit] = timeUnits.find(([scale]) => size >= scale) || timeUnits[3];
  return significant(seconds / scale) + '\u202f' + unit;
});

const twoDigits = (number) => String(Math.floor(number)).padStart(2, '0');

export function formatElapsed(seconds) {
  if (seconds < 60) return significant(seconds) + '\u202fs';
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = twoDigits(whole % 60);
  return hours ? `${hours}:${twoDigits(minutes)}:${rest}\u202fh` : `${minutes}:${rest}\u202fmin`;
}

export const formatCount = ifKnown(
    (value) => Math.abs(value) < 1e12 ? value.toLocaleString('en-US', {maximumFractionDigits: 2}) :
                                        significant(value, 4));

export function plural(count, word) {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;
}

// Divides large numbers by a factor: "318.2 M".
export function scaled(value, least, digits) {
  /** @type {[number, string][]} */
  const factors = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  const size = Math.abs(value);
  const isScaled = size >= least && size < 1e18;
  const [factor, letter] = (isScaled && factors.find(([each]) => size >= each)) || [1, ''];
  return [significant(value / factor, digits), letter];
}

export const formatPlain = ifKnown((value) => scaled(value, 1e6, 4).filter(Boolean).join('\u202f'));

export const formatRate =
    ifKnown((value) => scaled(value, 1e6, 3).filter(Boolean).join('\u202f') + '/s');

// For places with room for few digits only.
export const formatShort =
    ifKnown((value) => value >= 1e7 ? formatPlain(value) : formatCount(value));

// A count, or a mean of counts.
export const formatNumber =
    ifKnown((value) => Number.isInteger(value) ? formatShort(value) : significant(value));

export const formatFew = ifKnown((value) => significant(value));

export const formatPercent = ifKnown((share) => {
  const percent = share * 100;
  if (percent > 0 && percent < 0.01) return '<0.01%';
  // Not all, so it is not 100%.
  if (percent > 99 && percent < 100) return significant(Math.min(percent, 99.99), 4) + '%';
  return significant(percent, percent < 10 ? 2 : 3) + '%';
});

// With the unit, if it is short enough: "4.2 kB".
export function formatValue(tag) {
  if (tag.type === 'transact') return formatSeconds;
  if (!tag.unit || tag.unit.length > 8) return formatPlain;
  const isBytes = tag.unit === 'byte';
  return ifKnown((value) => {
    const [number, letter] = scaled(value, isBytes ? 1e3 : 1e6, 4);
    return isBytes ? `${number}\u202f${letter}B` :
                     [number, letter, visibleName(tag.unit)].filter(Boolean).join('\u202f');
  });
}

// Clock of the run's time zone: dates are shifted by the zone's offset and shown as UTC.
export const clock = {
  offset: 0,  // ms
  isFine: false,
  time(at, isFine = this.isFine) {
    const text = new Date(at + this.offset).toISOString();
    return text.slice(11, isFine ? 23 : 19);
  },
  distance() {
    const minutes = Math.abs(this.offset) / 60000;
    const sign = this.offset < 0 ? '−' : '+';
    return `UTC${sign}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`;
  },
  date(at) { return new Date(at + this.offset).toISOString().slice(0, 10);},
};

// Why a tag has no percentiles, in words.
const reasons = {
  'no calls': 'there was no call',
  'no finite values': 'no value is a finite number',
  'not recorded': 'no percentiles were recorded for this tag',
  'several windows':
      'the agent gives percentiles of one window at a time, and those of several cannot be put together; ' +
      'record with histograms to know it',
  'several hosts':
      'percentiles of several hosts cannot be put together; record with histograms to know it',
  'completed and failed': 'there is no histogram of failed calls',
  'incomplete histogram': 'the histogram lacks some of the calls',
  'several tags':
      'percentiles of several tags cannot be put together unless there is a histogram of each',
};

export function whyNoPercentile(tag) {
  if (tag.lacks_times) return 'Unknown: some failed calls have no duration';
  return 'Unknown: ' + (reasons[tag.percentiles_from] || 'it was not recorded');
}

// Shows invisible characters.
export function visibleName(name) {
  const shown =
      name.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
          .replace(/\u007f/g, '\u2421')
          .replace(
              /[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
              (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  return shown.trim() === '' ? `“${shown}”` : shown;
}

// The whole name, where it may wrap. Its writing direction is isolated.
export const nameElement = (name) => element('bdi', {class: 'name'}, visibleName(name));

// For a place that may be too narrow. Names of one family often differ at their ends only, so what
// does not fit is cut out of the middle; see `.cut` in page.css.
export const shortName = (name, kind = 'name') => element(
    'bdi', {class: `${kind} cut`, title: visibleName(name)}, ...halvesOf(visibleName(name)));

function halvesOf(text) {
  const longestEnd = 14;
  const letters = Array.from(text);
  let at = letters.length > longestEnd ?
      Math.max(letters.length - longestEnd, Math.ceil(letters.length / 2)) :
      letters.length;
  // An accent stays with its letter.
  while (at < letters.length && /\p{M}/u.test(letters[at])) ++at;
  const half = (kind, from, to) => element('span', {class: kind}, letters.slice(from, to).join(''));
  return at < letters.length ? [half('head', 0, at), half('tail', at)] : [half('head', 0)];
}
