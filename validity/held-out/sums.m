s = 0; for i = 1:10, a = cumsum(ones(1500) * i); b = a(:, end:-1:1); s = s + sum(b(1, :)); end, disp(s)
