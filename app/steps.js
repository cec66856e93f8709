// Steps of Back and Forward, as `main.py` describes them; and a file dropped anywhere becomes the corpus.
(() => {
  if (window.labkitSteps) return;
  window.labkitSteps = true;
  const wide = formula => { if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0; };  // for arrow keys
  const formulas = () => document.querySelectorAll('.katex-display:not([tabindex])').forEach(wide);
  new MutationObserver(formulas).observe(document.body, {childList: true, subtree: true});
  new MutationObserver(() => { // its own label speaks of a sidebar
    document.querySelector('[data-testid=stExpandSidebarButton]')?.setAttribute('aria-label', 'Pages');
  }).observe(document.body, {childList: true, subtree: true});
  addEventListener('mouseover', event => { // a name that is cut
    const names = event.target.closest?.('.stSelectbox')?.querySelectorAll('input') ?? [];
    for (const name of names) name.title = name.value;
  });
  // a file dropped anywhere goes to the uploader for a corpus
  const bring = () => document.querySelector('.st-key-bring-file input[type=file]');
  addEventListener('dragenter', () => {
    if (!bring()) document.querySelector('.st-key-data button[aria-expanded=false]')?.click();
  });
  addEventListener('dragover', event => {
    if (bring() && event.dataTransfer.types.includes('Files')) event.preventDefault();
  });
  addEventListener('drop', event => {
    const input = bring();
    if (!input || !event.dataTransfer.files.length || event.target === input) return;
    event.preventDefault();
    const files = new DataTransfer();
    files.items.add(event.dataTransfer.files[0]);
    input.files = files.files;
    input.dispatchEvent(new Event('change', {bubbles: true}));
  });
  addEventListener('click', event => { // pasted lines are used: what covers the page closes
    if (!event.target.closest?.('.st-key-file-paste button')) return;
    const open = () => [...document.querySelectorAll('.stPopover button[aria-expanded=true]')].reverse();
    setTimeout(() => open().forEach(button => button.click()), 300);
  });
  PLOTLY  // its script is fetched at once, not only with the first picture
  const push = history.pushState.bind(history), mend = history.replaceState.bind(history);
  let pressed = false, moving = false, leaving = false, last = '', at = 0;
  addEventListener('pointerdown', () => { pressed = true; moving = false; }, true);
  addEventListener('click', event => {
    const link = event.target.closest('[data-testid$=NavLink]');
    leaving = !!link && new URL(link.href).pathname !== location.pathname;
  }, true);
  addEventListener('keydown', key => { pressed = true; moving = /^(Arrow|Page|Home|End)/.test(key.key); }, true);
  addEventListener('popstate', () => { pressed = leaving = false; last = ''; });
  const changed = (before, after) => [...new Set([...before.keys(), ...after.keys()])]
    .filter(name => before.getAll(name).join() !== after.getAll(name).join()).join();
  history.pushState = history.replaceState = (state, title, address) => {
    const to = new URL(address, location), turned = to.pathname !== location.pathname;
    if (leaving && !turned) return;  // the settings of the previous page stay in its address
    leaving = false;
    const names = turned ? '' : changed(new URLSearchParams(location.search), to.searchParams);
    const step = turned || (pressed && names !== '' && !(moving && names === last && Date.now() - at < 2000));
    if (pressed) [last, at] = [names, Date.now()];
    pressed = false;
    (step ? push : mend)(state, title, address);
  };
})();
