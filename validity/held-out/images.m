s = 0;
for i = 1:10
  a = mod(reshape(1:1440000, 1200, 1200) * i, 255);
  b = conv2(a, ones(3) / 9, 'same');
  s = s + sum(b(:) > 100);
end
disp(s > 0)
