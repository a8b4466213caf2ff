import ast

text = "".join(f"def f{i}(a, b=({i}, 'x')):\n    return [a + k * {i} for k in range(b[0]) if k % 3]\n" for i in range(4000))
print(sum(isinstance(node, ast.BinOp) for node in ast.walk(ast.parse(text))))
