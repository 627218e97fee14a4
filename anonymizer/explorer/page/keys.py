"""Keys that work wherever the focus is, and what keeps the focus when elements are made anew."""

LISTEN = """
addEventListener('keydown', event => {
  const at = event.target, typed = at.matches?.('textarea, input, [contenteditable]') &&
    !['range', 'checkbox', 'radio', 'button'].includes(at.type) && !at.readOnly;
  const held = event.ctrlKey || event.metaKey;
  let key = null;
  if (held && event.altKey && /^Digit[1-9]$/.test(event.code)) key = event.code.slice(5);
  else if (held && !event.altKey && !typed && event.code === 'KeyZ')
    key = event.shiftKey ? 'redo' : 'undo';
  else if (held && !event.altKey && !typed && event.code === 'KeyY') key = 'redo';
  if (key !== null) { event.preventDefault(); emitEvent('pressed', key); }
  if (event.key === ',' && at.type === 'number' && at.step !== '1') {
    event.preventDefault();
    document.execCommand('insertText', false, '.');
  }
});
"""
"""Says which key was pressed. In a field that is typed in, Ctrl+Z undoes what was typed.

A comma is that of a decimal number: browsers leave it out, which makes 35 of 3,5.
"""

NUMBERED = "Control+Alt+{}"
"""What opens the view of a number: browsers have Alt and a digit for their tabs."""

KEEP_FOCUS = """
(() => {
  let last = null;
  const name = each => each.getAttribute('aria-label') || each.labels?.[0]?.textContent ||
    each.textContent || '';  // innerText would have the page laid out each time
  const like = (tag, named) => [...document.querySelectorAll(`.content ${tag}`)]
    .filter(each => name(each) === named && !each.disabled);
  addEventListener('focusin', ({target}) => {
    last = null;
    if (!target.closest('.content')) return;
    const tag = target.localName, named = name(target);
    last = {target, tag, named, place: like(tag, named).indexOf(target)};
  });
  addEventListener('focusout', ({target}) => {
    const disabled = target.disabled;
    setTimeout(() => {
      if (!target.isConnected || last?.target !== target || document.activeElement === target)
        return;
      last = disabled ? {...last, waits: true} : null;
    });
  });
  new MutationObserver(() => {
    for (const each of document.querySelectorAll('[role=listbox] > [tabindex]:not([role])')) {
      each.removeAttribute('tabindex');  // options stand in it, which is of a list alone
      each.setAttribute('role', 'presentation');
    }
    if (!last || document.activeElement !== document.body) return;
    const {target, tag, named, place, waits} = last;
    if (target.isConnected && (!waits || target.disabled)) return;
    const same = target.isConnected ? [target] : like(tag, named);
    last = null;
    (same[place] ?? same[0] ?? document.querySelector('h1'))?.focus({preventScroll: true});
  }).observe(document.body,
    {childList: true, subtree: true, attributes: true, attributeFilter: ['disabled']});
})();
"""
"""Elements that are made anew, such as buttons in rows, lose the focus: it goes to the one of the
same name, or to the heading of the view where there is none. One that is disabled for a while has
it again afterwards."""
