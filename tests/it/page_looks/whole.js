// What does not fit, what has no name, and what sorting, folding and the theme do.
const root = inner.documentElement;
const beyond = (one) => one.getBoundingClientRect().right > view.innerWidth + 1;
const wide = all('body *').filter((one) => !one.closest('.scroll, pre, svg') && beyond(one));
const unnamed = all('svg').filter((one) => !one.closest('[aria-hidden=true], [role=img]')).length;
const names = (table) => {
    const heads = table.querySelectorAll('tbody:first-of-type tr:not(.kind) > th');
    return [...heads].map((one) => one.textContent);
};
const table = all('table').find((one) => one.querySelector('th[data-sorts]') && names(one).length > 1);
const head = table.querySelector('th[data-sorts]');
const at = [...head.parentElement.children].indexOf(head);
const values = () => {
    const rows = [...table.tBodies[0].rows].filter((row) => row.cells.length > 1);
    return rows.map((row) => Number(row.cells[at].dataset.value));
};
const orders = [names(table)];
const sorted = [];
for (const turn of [1, 2, 3]) {
    head.querySelector('button').click();
    orders.push(names(table));
    sorted.push([head.getAttribute('aria-sort'), values()]);
}
const buttons = all('#tools button');
const folded = () => all('details').filter((one) => !one.open).length;
const before = [folded(), root.dataset.theme ?? ''];
buttons.slice(0, 2).forEach((one) => one.click());
return {
    overflow: root.scrollWidth > view.innerWidth,
    wide: wide.map((one) => one.outerHTML.slice(0, 80)),
    unnamed,
    orders,
    sorted,
    before,
    after: [folded(), root.dataset.theme ?? ''],
    captions: all('table:not(:has(caption))').length,
};
