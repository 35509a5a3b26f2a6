// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's own metrics of the host, a low chart for each, on the time axis of all charts.

import {TimeChart} from './chart.js';
import {tagColor} from './detail.js';
import {byId, element, formatPlain, formatRate, formatSeconds, ifKnown, plural, scaled, visibleName} from './format.js';
import {page} from './page.js';
import {ink} from './view.js';

const mostAtFirst = 5;

const formatBytes = (suffix) => ifKnown((value) => {
  const [number, letter] = scaled(value, 1e3, 4);
  return `${number}\u202f${letter}B${suffix}`;
});

/** @type {Object<string, (value: number) => string>} */
const formats = {
  'bytes': formatBytes(''),
  'bytes each': formatBytes(''),
  'bytes per second': formatBytes('/s'),
  'seconds': formatSeconds,
  'seconds each': formatSeconds,
  'per second': formatRate
};

// Several hosts may have the same instances.
function labelOf({metric, instance, host}, {hosts}) {
  const name = visibleName(instance ?? metric.split('.').pop());
  return hosts.length > 1 ? `${host}: ${name}` : name;
}

export function showHost({host, fine, run}) {
  for (const chart of page.hostCharts) chart.remove();
  byId('host').hidden = host.values.length === 0;
  const metrics = [...new Set(host.values.map(({metric}) => metric))];
  const shown = page.showsAllOfHost ? metrics : metrics.slice(0, mostAtFirst);
  page.hostCharts = shown.map((metric) => {
    const values = host.values.filter((value) => value.metric === metric);
    const [{unit}] = values;
    const style = (i) =>
        values.length > 1 ? {color: tagColor(i)} : {color: ink('accent'), fill: 0.16};
    return new TimeChart(byId('host-charts'), {
      title: visibleName(metric),
      grid: fine,
      lines: values.map(
          (value, i) =>
              ({label: labelOf(value, run), values: value.points, merge: 'rate', ...style(i)})),
      height: 96,
      hasEndLabels: false,  // so that the time axis is below that of the load
      format: formats[unit] || formatPlain,
      extraKey: () => element('span', {class: 'entry'}, unit && visibleName(unit))
    });
  });
  byId('host-all').hidden = shown.length === metrics.length;
  byId('host-all').textContent = `Show all ${metrics.length} metrics`;
  byId('host-all').onclick = () => {
    page.showsAllOfHost = true;
    showHost(page.data);
  };
  byId('host-more').textContent = host.leftOut ?
      `${plural(host.leftOut, 'more value')}: pcp-trace report --json, and the archive.` :
      '';
}
