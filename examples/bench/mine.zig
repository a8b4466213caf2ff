// Two ways to fill memory: pagewise bench mine.zig
const std = @import("std");

const elements: u64 = 100_000;
var last: u64 = 0;

fn fill(capacity: usize) void {
    var size = capacity;
    var all = std.c.malloc(size * 8) orelse unreachable;
    var i: u64 = 0;
    while (i < elements) : (i += 1) {
        if (i == size) {
            size *= 2;
            all = std.c.realloc(all, size * 8) orelse unreachable;
        }
        @as([*]u64, @ptrCast(@alignCast(all)))[i] = i;
    }
    last = @as([*]u64, @ptrCast(@alignCast(all)))[elements - 1];
    std.c.free(all);
}

export fn grow(_: ?*anyopaque) void {
    fill(16);
}

export fn grow_result(_: ?*anyopaque) u64 {
    return last;
}

export fn reserve(_: ?*anyopaque) void {
    fill(elements);
}

export fn reserve_result(_: ?*anyopaque) u64 {
    return last;
}
