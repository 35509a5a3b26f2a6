// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of tags and other texts from programs. They may have any contents, and never become markup.

// Shows invisible characters.
function visibleName(name) {
  const shown =
      name.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
          .replace(/\u007f/g, '\u2421')
          .replace(
              /[\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
              (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  return shown.trim() === '' ? `“${shown}”` : shown;
}

// The whole name, where it may wrap. Its writing direction is isolated.
const nameElement = (name) => element('bdi', {class: 'name'}, visibleName(name));

// For a place that may be too narrow. Names of one family often differ at their ends only, so what
// does not fit is cut out of the middle; see `.cut` in page.css.
const shortName = (name, kind = 'name') => element(
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
