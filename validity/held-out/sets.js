const sets = new Map();
for (let i = 0; i < 300000; i++) {
  const key = 'k' + (i % 3000);
  if (!sets.has(key)) sets.set(key, new Set());
  sets.get(key).add(i);
}
const text = JSON.stringify([...sets].map(([key, set]) => [key, [...set]]));
console.log(JSON.parse(text).length, text.length);
