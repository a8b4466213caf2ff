// What does not fit, what has no name, what says the same twice to somebody who listens.
() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const beyond = (one) => one.getBoundingClientRect().right > innerWidth + 1;
    const wide = all('body *').filter((one) => !one.closest('.scroll, pre, svg, .skip') && beyond(one));
    const ids = all('[id]').map((one) => one.id);
    const color = (one) => getComputedStyle(one).color;
    return {
        width: innerWidth,
        overflow: document.documentElement.scrollWidth > innerWidth,
        wide: wide.map((one) => one.outerHTML.slice(0, 80)),
        unnamed: all('svg').filter((one) => !one.closest('[aria-hidden=true], [role=img]')).length,
        captions: all('table:not(:has(caption))').length,
        heads: all('thead th').filter((one) => !one.textContent.trim() && !one.querySelector('svg')).length,
        twice: ids.length - new Set(ids).size,
        broken: all('nav a[href^="#"]').filter((one) => !document.querySelector(one.getAttribute('href'))).length,
        ink: color(document.body),
    };
}
