// The figures of every row, as the page carries them without its script.
() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const value = (cell) => cell.dataset.value ?? cell.textContent.trim();
    const shown = (row) => [...row.cells].slice(1).filter((c) => !c.className).map(value).filter((text) => text !== "" && !Number.isNaN(Number(text)));
    return {
        ready: !!document.querySelector('#tools button'),
        rows: all('tr[data-cell]').map((row) => [row.dataset.cell, ...shown(row)]),
        named: all('tbody tr:has(td[data-value])').map((row) => [row.cells[0].textContent, ...shown(row)]),
        data: JSON.parse(document.getElementById('data').textContent),
    };
}
