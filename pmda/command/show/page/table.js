// SPDX-License-Identifier: LGPL-2.1-or-later
// A sortable table of any length: only the visible rows are in the document.
//
// A column: {title, help, value(row) to sort by, cell(row) to show, width, dropRank: if there is
// too little room, columns with the greatest rank are dropped first, and those without a rank stay,
// as the one does by which the rows are sorted; isText, unknown(row): why there is no value}. The
// first column gets the remaining width. No number is cut: a column grows with those that are seen.

import {element, isKnown} from './format.js';

const leastNameWidth = 200;  // more than 20 letters

export class Table {
  constructor(
      host, {label, columns, rows, sortedBy, onChoose = null, rowHeight = 34, mostRows = 12}) {
    this.columns = columns;
    this.all = this.rows = rows;
    this.onChoose = onChoose;
    this.rowHeight = rowHeight;
    this.mostRows = mostRows;
    this.chosen = new Map();
    this.cursor = 0;
    this.widths = new Map(columns.map((column) => [column, column.width]));
    this.sorted = {column: sortedBy, descending: true};
    this.frame =
        element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label});
    this.table = element('table', {'aria-label': label});
    this.frame.append(this.table);
    host.replaceChildren(this.frame);
    this.frame.onscroll = () => this.showRows();
    this.frame.onkeydown = (event) => this.pressed(event);
    this.table.onclick = (event) => this.clicked(event);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(host);
    this.sort();
  }

  // Another table takes its place.
  retire() { this.observer.disconnect(); }

  // Shows only rows for which isShown(row) is true.
  filter(isShown) {
    this.rows = this.all.filter(isShown);
    this.cursor = 0;
    this.frame.scrollTop = 0;
    this.sort();
  }

  sort() {
    const {column, descending} = this.sorted;
    const key = new Map(this.rows.map((row) => [row, column.value(row)]));
    const sign = descending ? -1 : 1;
    this.rows.sort((a, b) => {
      const [left, right] = [key.get(a), key.get(b)];
      if (!isKnown(left) || !isKnown(right)) return Number(isKnown(right)) - Number(isKnown(left));
      return sign *
          (typeof left === 'string' ? (left < right ? -1 : Number(left > right)) : left - right);
    });
    this.draw();
  }

  sortBy(column) {
    const again = this.sorted.column === column;
    this.sorted = {column, descending: again ? !this.sorted.descending : !column.isText};
    this.sort();
    this.table.querySelector(`thead th:nth-child(${this.shown.indexOf(column) + 1}) button`)
        ?.focus();
  }

  draw() {
    this.shown = this.columnsThatFit();
    const groups = this.shown.map((column) => {
      const width = this.widths.get(column);
      return element('col', {style: width ? `width:${width}px` : null});
    });
    this.body = element('tbody');
    this.table.replaceChildren(
        element('colgroup', {}, ...groups),
        element(
            'thead', {}, element('tr', {}, ...this.shown.map((column) => this.heading(column)))),
        this.body);
    this.table.setAttribute('aria-rowcount', this.rows.length + 1);
    this.frame.style.setProperty('--row', `${this.rowHeight}px`);
    this.frame.style.maxHeight = `${this.mostRows * this.rowHeight + 52}px`;
    this.drawn = null;
    this.showRows();
  }

  columnsThatFit() {
    const shown = [...this.columns];
    const widthOf = (column) => this.widths.get(column) || leastNameWidth;
    const wanted = () => shown.reduce((sum, column) => sum + widthOf(column), 0);
    const rankOf = (column) => column === this.sorted.column ? 0 : column.dropRank || 0;
    while (wanted() > this.frame.clientWidth) {
      const least = shown.reduce((a, b) => (rankOf(b) > rankOf(a) ? b : a));
      if (!rankOf(least)) break;
      shown.splice(shown.indexOf(least), 1);
    }
    return shown;
  }

  heading(column) {
    if (!column.title) return element('td', {});
    const {column: by, descending} = this.sorted;
    const state = by !== column ? 'none' : descending ? 'descending' : 'ascending';
    const sign = {none: '', descending: '▼', ascending: '▲'}[state];
    const mark = element('span', {class: 'mark', 'aria-hidden': 'true'}, sign);
    const button = element('button', {type: 'button', title: column.help}, mark, column.title);
    button.onclick = () => this.sortBy(column);
    return element(
        'th', {scope: 'col', 'aria-sort': state, class: column.isText ? 'text' : null}, button);
  }

  showRows() {
    const first = Math.max(0, Math.floor(this.frame.scrollTop / this.rowHeight) - 4);
    const last = Math.min(this.rows.length, first + this.mostRows + 12);
    if (this.drawn && this.drawn[0] === first && this.drawn[1] === last) return;
    this.drawn = [first, last];
    const space = (rows) => {
      const cell =
          element('td', {colspan: this.shown.length, style: `height:${rows * this.rowHeight}px`});
      return element('tr', {class: 'space', 'aria-hidden': 'true'}, cell);
    };
    const rows = this.rows.slice(first, last).map((row, i) => this.rowElement(row, first + i));
    if (first > 0) rows.unshift(space(first));
    if (last < this.rows.length) rows.push(space(this.rows.length - last));
    if (this.rows.length === 0) {
      const cell = element('td', {colspan: this.shown.length, class: 'none'}, 'Nothing matches.');
      rows.push(element('tr', {}, cell));
    }
    this.body.replaceChildren(...rows);
    if (this.widen()) this.draw();
  }

  // True if a column has become wider. A table outside of the page has no widths.
  widen() {
    const range = document.createRange();
    let isWider = false;
    for (const cell of this.body.querySelectorAll('[aria-rowindex] td')) {
      const column = this.shown[cell.cellIndex];
      if (!column.width) continue;
      range.selectNodeContents(cell);
      const {paddingLeft, paddingRight} = getComputedStyle(cell);
      const padding = parseFloat(paddingLeft) + parseFloat(paddingRight);
      const width = Math.ceil(range.getBoundingClientRect().width + padding - 0.1);
      if (!(width > Math.max(cell.clientWidth, this.widths.get(column)))) continue;
      this.widths.set(column, width);
      isWider = true;
    }
    return isWider;
  }

  rowElement(row, index) {
    const color = this.chosen.get(row);
    const made = element('tr', {
      'aria-rowindex': index + 2,
      'aria-selected': this.onChoose ? String(Boolean(color)) : null,
      class: this.onChoose ? 'choice' : null,
      'data-at': index,
      style: color ? `--mark:${color}` : null
    });
    for (const column of this.shown) {
      const why = column.unknown && !isKnown(column.value(row)) ? column.unknown(row) : null;
      made.append(
          element('td', {class: column.isText ? 'text' : null, title: why}, column.cell(row)));
    }
    return made;
  }

  // Marks rows with colours, and moves the cursor to the first one.
  mark(chosen) {
    this.chosen = chosen;
    this.drawn = null;
    const [first] = chosen.keys();
    const at = this.rows.indexOf(first);
    if (at >= 0) this.cursor = at;
    this.showRows();
  }

  reveal(index) {
    const top = index * this.rowHeight;
    const room = this.frame.clientHeight - 54;  // without the heading
    if (top < this.frame.scrollTop)
      this.frame.scrollTop = top;
    else if (top > this.frame.scrollTop + room - this.rowHeight)
      this.frame.scrollTop = top - room + this.rowHeight;
  }

  clicked(event) {
    const at = event.target.closest('tr.choice')?.dataset.at;
    if (at === undefined) return;
    this.cursor = Number(at);
    this.onChoose(this.rows[this.cursor], event.ctrlKey || event.metaKey || event.shiftKey);
  }

  pressed(event) {
    if (!this.onChoose || event.target !== this.frame || this.rows.length === 0) return;
    const steps =
        {ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity};
    if (event.key in steps) {
      this.cursor = Math.min(Math.max(this.cursor + steps[event.key], 0), this.rows.length - 1);
      this.reveal(this.cursor);
      this.onChoose(this.rows[this.cursor], false);
    } else if (event.key === '+' || event.key === ' ') {
      this.onChoose(this.rows[this.cursor], true);
    } else {
      return;
    }
    event.preventDefault();
  }
}
