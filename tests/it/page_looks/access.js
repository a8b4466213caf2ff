// What somebody who listens, sees little or has no pointer could not use: controls and pictures without a name, text of too
// little contrast, text outside of landmarks, headings out of order, what scrolls and no key reaches. By the rules of WCAG 2.2 AA.
() => {
    const all = (what) => [...document.querySelectorAll(what)];
    const short = (one) => one.outerHTML.slice(0, 90);
    const isDrawn = (one) => one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
    const isSeen = (one) => isDrawn(one) && one.getClientRects().length > 0;
    const text = (one) => (one?.textContent ?? '').trim();
    const labelled = (one) => (one.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean)
        .map((id) => text(document.getElementById(id))).join(' ');
    const name = (one) => one.getAttribute('aria-label')?.trim() || labelled(one) || [...(one.labels ?? [])].map(text).join(' ')
        || (['INPUT', 'SELECT'].includes(one.tagName) ? '' : text(one)) || one.getAttribute('title')?.trim() || '';

    const controls = all(`a[href], button, input, select, textarea, summary, [tabindex], [role=group],
        [role=img], section, nav`);
    const unnamed = controls.filter((one) => isSeen(one) && !name(one)).map(short);

    // Colors by their parts from 0 to 1; what is behind a text is the nearest that is not transparent.
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parts = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((part, at) => part * a + under[at] * (1 - a));
    const behind = (one) => {
        if (!one) return [1, 1, 1];
        const own = parts(getComputedStyle(one).backgroundColor);
        return own[3] === 1 ? own.slice(0, 3) : over(own, behind(one.parentElement));
    };
    const light = (color) => color.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const contrast = (a, b) => {
        const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const holders = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const holder = walker.currentNode.parentElement;
        const isText = walker.currentNode.data.trim() && !['SCRIPT', 'STYLE', 'TITLE'].includes(holder.tagName);
        if (isText && isSeen(holder)) holders.add(holder);
    }
    const faint = [], stray = [];
    for (const one of holders) {
        const style = getComputedStyle(one), size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        const under = behind(one);
        const seen = contrast(over(parts(one.closest('svg') ? style.fill : style.color), under), under);
        const isDisabled = one.closest(':disabled, .skip') !== null;
        if (!isDisabled && seen < (isLarge ? 3 : 4.5)) faint.push(`${seen.toFixed(2)} ${short(one)}`);
        if (!one.closest('header, main, nav, footer, aside, .skip')) stray.push(short(one));
    }

    const levels = all('h1, h2, h3, h4, h5, h6').filter(isSeen).map((one) => Number(one.tagName[1]));
    const jumps = levels.filter((level, at) => at > 0 && level > levels[at - 1] + 1);
    const canScroll = (one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX);
    const scrolls = (one) => one.scrollWidth > one.clientWidth + 1 && canScroll(one);
    const inner = 'a[href], button, input, select, [tabindex="0"]';
    const reachable = (one) => one.tabIndex >= 0 || one.querySelector(inner) !== null;
    const refers = all('[aria-labelledby]').filter((one) => !labelled(one)).map(short);
    return {
        unnamed, faint, stray, jumps, refers,
        unreachable: all('body *').filter((one) => isSeen(one) && scrolls(one) && !reachable(one)).map(short),
        ordered: all('[tabindex]').filter((one) => one.tabIndex > 0).map(short),
        landmarks: ['header', 'main', 'footer'].filter((what) => all(what).length !== 1),
        titles: levels.filter((level) => level === 1).length === 1 && levels[0] === 1 && document.title ? [] : ['h1 or title'],
        language: document.documentElement.lang ? [] : ['lang'],
        zoom: all('meta[name=viewport]').filter((one) => /user-scalable\s*=\s*no|maximum-scale/.test(one.content)).map(short),
    };
}
