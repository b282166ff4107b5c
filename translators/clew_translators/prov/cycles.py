"""Cycles of a directed graph. Nodes are numbers from 0; ``after[n]`` are those that an edge from ``n`` leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def components(after: Sequence[Sequence[int]]) -> list[int]:
    """For each node the number of its strongly connected component (Tarjan 1972), in time linear in nodes and edges."""
    order, low, component = [-1] * len(after), [0] * len(after), [-1] * len(after)
    counter = found = 0
    stack: list[int] = []
    for start in range(len(after)):
        if order[start] >= 0:
            continue
        path = [(start, iter(after[start]))]
        order[start] = low[start] = counter
        counter += 1
        stack.append(start)
        while path:
            node, edges = path[-1]
            for target in edges:
                if order[target] < 0:
                    order[target] = low[target] = counter
                    counter += 1
                    stack.append(target)
                    path.append((target, iter(after[target])))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    while component[node] < 0:
                        component[stack.pop()] = found
                    found += 1
    return component


def shortest_path(after: Sequence[Sequence[int]], start: int, end: int) -> list[int]:
    """The nodes of a shortest path, both ends included; ``[start]`` if it is the end. There must be one."""
    before = {start: start}
    waiting = deque([start])
    while end not in before:
        node = waiting.popleft()
        for target in after[node]:
            if target not in before:
                before[target] = node
                waiting.append(target)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
