// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers of one tag.

import {percentileNames} from './data.js';
import {isMeasured, percentileStyles} from './detail.js';
import {byId, element, formatCount, formatFew, formatRate, formatSeconds, formatValue, isKnown, unknown, whyNoPercentile} from './format.js';
import {page} from './page.js';
import {say, showSize} from './spans.js';
import {view} from './view.js';

function figure(name, value, why) {
  return element(
      'div', {title: value === unknown ? why : null}, element('dt', {}, name),
      element('dd', {}, value));
}

export function formatExtreme(tag, which) {
  const value = formatValue(tag)(tag[which]);
  if (!isKnown(tag[which]) || tag[which + '_is_exact']) return value;
  return (which === 'max' ? '≥\u202f' : '≤\u202f') + value;
}

export function showFigures(tags) {
  const [tag] = tags;
  byId('figures').replaceChildren(...(tags.length > 1 ? [] : figuresOf(tag).filter(Boolean)));
  say(byId('known'), '');
}

// Some may be missing.
function figuresOf(tag) {
  const format = formatValue(tag);
  const isTime = tag.type === 'transact';
  const isCounter = tag.type === 'counter';
  const recorded = (name, value) => figure(name, value, 'Unknown: it was not recorded');
  return [
    figure(isTime ? 'calls' : 'count', formatCount(tag.calls)),
    figure('rate', formatRate(tag.rate), 'Unknown: no time has passed'),
    isTime && recorded('completed', formatCount(tag.completed)),
    isTime && recorded('failed', formatCount(tag.failed)),
    isTime && recorded('busy', formatFew(tag.busy)),
    isTime && tag.vanished > 0 && figure('not ended', formatCount(tag.vanished)),
    isTime && recorded('total time', formatSeconds(tag.sum)),
    isCounter &&
        figure('added', format(tag.added), 'Unknown: nothing was added, or it was not recorded'),
    (isCounter || tag.type === 'observe') && recorded('last value', format(tag.last)),
    ...(isMeasured(tag) ? measuredFigures(tag, format, recorded) : []),
    view.run.hosts.length > 1 && figure('hosts', tag.hosts.join(', '))
  ];
}

function measuredFigures(tag, format, recorded) {
  return [
    tag.nonfinite > 0 && figure('not finite', formatCount(tag.nonfinite)),
    recorded('min', formatExtreme(tag, 'min')), recorded('mean', format(tag.mean)),
    ...percentileNames.map(
        (name) => figure(
            percentileStyles[name].short, wayTo(tag, name, format(tag[name])),
            isKnown(tag[name]) ? null : whyNoPercentile(tag))),
    recorded('max', wayTo(tag, 'max', formatExtreme(tag, 'max')))
  ];
}

// A known percentile of a transaction leads to captured ones of that size.
function wayTo(tag, name, text) {
  if (tag.type !== 'transact' || !page.data.spans || !isKnown(tag[name])) return text;
  const button = element('button', {type: 'button', title: 'Captured ones of this size'}, text);
  button.onclick = () => say(byId('known'), showSize(tag, name));
  return button;
}
