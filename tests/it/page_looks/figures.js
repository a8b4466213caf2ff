// The figures of every row, as the page carries them without its script.
() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const shown = (row) => [...row.cells].filter((c) => c.dataset.value !== undefined).map((c) => c.dataset.value);
    return {
        ready: !!document.querySelector('#tools button'),
        rows: all('tr[data-cell]').map((row) => [row.dataset.cell, ...shown(row)]),
        named: all('tbody tr:has(td[data-value])').map((row) => [row.cells[0].textContent, ...shown(row)]),
        data: JSON.parse(document.getElementById('data').textContent),
    };
}
