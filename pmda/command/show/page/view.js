// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of the run that all charts show, and the moment under the pointer.

import {showZoom} from './page.js';

export const ink = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// `window`: begin and end in ms; null: the whole run.
export const view = {
  run: null,
  window: null,
  charts: new Set(),
  range() {
    return this.window || [this.run.begin, Math.max(this.run.end, this.run.begin + 1)];
  },

  zoom(window) {
    const [begin, end] = [this.run.begin, this.run.end];
    if (window) {
      const length = Math.min(Math.max(window[1] - window[0], this.shortest), end - begin);
      const from = Math.min(Math.max(window[0], begin), end - length);
      window = length >= end - begin ? null : [from, from + length];
    }
    this.window = window;
    for (const chart of this.charts) chart.showWindow();
    showZoom();
  },
  // Moves the shown range by a share of its length, or scales its length by a factor.
  move(share, factor) {
    const [from, to] = this.range();
    const middle = (from + to) / 2 + share * (to - from);
    const half = (to - from) * factor / 2;
    this.zoom([middle - half, middle + half]);
  },
  pointAt(time) {
    for (const chart of this.charts) chart.pointAt(time);
  },
};
