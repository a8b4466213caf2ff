// The figures of every row, as the page carries them.
const shown = (row) => [...row.cells].filter((c) => c.dataset.value !== undefined).map((c) => c.dataset.value);
return {
    ready: !!inner.querySelector('#tools button'),
    rows: all('tr[data-cell]').map((row) => [row.dataset.cell, ...shown(row)]),
};
