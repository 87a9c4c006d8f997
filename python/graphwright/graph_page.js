'use strict';
// The page's model is a tree: items are nodes, or groups (name scopes, control nodes, their blocks,
// called functions). Edges join nodes; what is drawn is joined to the outermost closed group.
const data = JSON.parse(document.getElementById('graph').textContent);
const svgNamespace = 'http://www.w3.org/2000/svg';
const root = {id: 0, label: '', children: [], open: true, parent: null, kind: 'group'};
const items = [root];
const edges = [];
let chosen = null;

function addItem(parent, label, kind, row) {
  const item = {id: items.length, label, kind, row, parent, children: [], open: false};
  items.push(item);
  parent.children.push(item);
  return item;
}

// Values are looked up from the inside out, as blocks see them.
function addBlock(block, group, outer, depth) {
  const values = new Map();
  const nodes = new Map();
  const find = name => {
    for (let scope = {values, outer}; scope; scope = scope.outer) {
      if (scope.values.has(name)) return scope.values.get(name);
    }
    return null;
  };
  const scopes = new Map();
  const scopeOf = name => {
    const cut = name.lastIndexOf('/');
    const own = group.scopePath || '';
    if (cut < 0 || (own && !name.startsWith(own + '/'))) return group;
    const path = name.slice(0, cut);
    if (path === own) return group;
    if (!scopes.has(path)) {
      const outerScope = scopeOf(path);
      const scope = addItem(outerScope, path.slice(path.lastIndexOf('/') + 1), 'group', null);
      scopes.set(path, scope);
    }
    return scopes.get(path);
  };
  for (const [name, type] of block.arguments) {
    const row = {name, op: 'argument', outputs: [[name, type]], inputs: [], attributes: {}};
    values.set(name, addItem(scopeOf(name), name.replace(/:0$/, ''), 'box', row));
  }
  for (const row of block.nodes) {
    const called = row.function ? [data.functions[row.function]] : [];
    const blocks = depth < 12 ? [...row.blocks, ...called.filter(Boolean)] : [];
    const short = row.name.slice(row.name.lastIndexOf('/') + 1);
    const item = addItem(scopeOf(row.name), short, blocks.length ? 'control' : 'box', row);
    for (const name of row.inputs) {
      const source = find(name);
      if (source) edges.push({from: source, to: item, control: false});
    }
    for (const name of row.controls) {
      if (nodes.has(name)) edges.push({from: nodes.get(name), to: item, control: true});
    }
    for (const inner of blocks) {
      const blockItem = addItem(item, inner.kind, 'group', null);
      const isFunction = inner.kind === 'function';
      blockItem.scopePath = isFunction ? '' : row.name;
      addBlock(inner, blockItem, isFunction ? null : {values, outer}, depth + 1);
    }
    for (const [name] of row.outputs) values.set(name, item);
    nodes.set(row.name, item);
  }
  block.results.forEach((name, index) => {
    const source = find(name);
    const row = {name: 'result ' + index, op: 'result', outputs: [], inputs: [name], attributes: {}};
    const item = addItem(group, 'result ' + index, 'box', row);
    if (source) edges.push({from: source, to: item, control: false});
  });
}

// Scopes of one node only say nothing: the node takes their place.
function dissolve(item) {
  item.children.forEach(dissolve);
  item.children = item.children.map(child => {
    const lonely = child.kind === 'group' && !child.row && child.children.length === 1 &&
        !child.scopePath && child.parent.kind !== 'control';
    if (!lonely) return child;
    const only = child.children[0];
    only.label = child.label + '/' + only.label;
    only.parent = item;
    return only;
  });
}

const isGroup = item => item.children.length > 0;
const textWidth = text => Math.max(46, 7 * text.length + 18);

function ancestors(item) {
  const path = [];
  for (let at = item; at; at = at.parent) path.push(at);
  return path;
}

// The item that stands for another among a group's children; null if it is not inside.
function childWithin(group, item) {
  let at = item;
  while (at && at.parent !== group) at = at.parent;
  return at;
}

function shown(item) {
  let result = item;
  for (let at = item.parent; at; at = at.parent) if (!at.open) result = at;
  return result;
}

// Layers by longest path from the sources; an edge back to an open walk is left out. Within a layer
// by the mean place of what comes before.
function layout(group) {
  const children = group.children;
  for (const child of children) {
    if (isGroup(child) && child.open) {
      layout(child);
    } else {
      child.width = textWidth(child.label + (isGroup(child) ? '  +' : ''));
      child.height = 34;
    }
  }
  const before = new Map(children.map(child => [child, new Set()]));
  for (const edge of edges) {
    const from = childWithin(group, edge.from);
    const to = childWithin(group, edge.to);
    if (from && to && from !== to) before.get(to).add(from);
  }
  const layer = new Map();
  const state = new Map();
  for (const start of children) {
    const stack = [[start, [...before.get(start)]]];
    if (state.has(start)) continue;
    state.set(start, 'open');
    while (stack.length) {
      const [item, waiting] = stack[stack.length - 1];
      const next = waiting.pop();
      if (next === undefined) {
        let depth = 0;
        for (const source of before.get(item)) {
          if (state.get(source) === 'done') depth = Math.max(depth, layer.get(source) + 1);
        }
        layer.set(item, depth);
        state.set(item, 'done');
        stack.pop();
      } else if (!state.has(next)) {
        state.set(next, 'open');
        stack.push([next, [...before.get(next)]]);
      }
    }
  }
  const rows = [];
  for (const child of children) (rows[layer.get(child)] ||= []).push(child);
  const gapX = 22, gapY = 42, pad = 16, head = group.parent ? 26 : 0;
  let y = pad + head, widest = group.parent ? textWidth(group.label + '  -') : 0;
  rows.forEach((row, index) => {
    if (index) {
      const place = item => {
        const sources = [...before.get(item)].filter(source => layer.get(source) < index);
        if (!sources.length) return 0;
        return sources.reduce((sum, s) => sum + s.x + s.width / 2, 0) / sources.length;
      };
      const places = new Map(row.map(item => [item, place(item)]));
      row.sort((a, b) => places.get(a) - places.get(b));
    }
    let x = 0, tallest = 0;
    for (const item of row) {
      item.x = x;
      item.y = y;
      x += item.width + gapX;
      tallest = Math.max(tallest, item.height);
    }
    row.width = x - gapX;
    widest = Math.max(widest, row.width);
    y += tallest + gapY;
  });
  for (const row of rows) {
    const shift = pad + (widest - row.width) / 2;
    for (const item of row) item.x += shift;
  }
  group.width = widest + 2 * pad;
  group.height = y - gapY + pad;
}

const world = document.getElementById('world');
const view = document.getElementById('view');
const details = document.getElementById('details');

function make(parent, tag, attributes, text) {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

function place(item, x, y) {
  item.absoluteX = x + item.x;
  item.absoluteY = y + item.y;
  if (item.open) for (const child of item.children) place(child, item.absoluteX, item.absoluteY);
}

function draw() {
  layout(root);
  root.x = root.y = 0;
  place(root, 0, 0);
  world.textContent = '';
  drawChildren(root);
  drawEdges();
}

function drawChildren(group) {
  for (const item of group.children) {
    const classes = 'item' + (item === chosen ? ' chosen' : '');
    const element = make(world, 'g', {class: classes,
      transform: `translate(${item.absoluteX},${item.absoluteY})`});
    make(element, 'rect', {class: item.kind, width: item.width, height: item.height, rx: 6});
    const sign = isGroup(item) ? (item.open ? '  -' : '  +') : '';
    const top = item.open && isGroup(item) ? 17 : 15;
    make(element, 'text', {x: item.width / 2, y: top, 'text-anchor': 'middle'}, item.label + sign);
    if (item.row && !(item.open && isGroup(item))) {
      make(element, 'text', {class: 'op', x: item.width / 2, y: 28, 'text-anchor': 'middle'},
        item.row.op);
    }
    element.addEventListener('click', event => { event.stopPropagation(); choose(item); });
    element.addEventListener('dblclick', event => { event.stopPropagation(); toggle(item); });
    if (item.open && isGroup(item)) drawChildren(item);
  }
}

function drawEdges() {
  const drawn = new Set();
  for (const edge of edges) {
    const from = shown(edge.from), to = shown(edge.to);
    if (from === to || ancestors(to).includes(from) || ancestors(from).includes(to)) continue;
    const key = from.id + '>' + to.id + edge.control;
    if (drawn.has(key)) continue;
    drawn.add(key);
    const x1 = from.absoluteX + from.width / 2, y1 = from.absoluteY + from.height;
    const x2 = to.absoluteX + to.width / 2, y2 = to.absoluteY;
    const bend = Math.max(14, (y2 - y1) / 2);
    const near = chosen && (from === chosen || to === chosen);
    make(world, 'path', {class: (edge.control ? 'control ' : '') + (near ? 'near' : ''),
      d: `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`});
  }
}

function toggle(item) {
  if (!isGroup(item)) return;
  item.open = !item.open;
  if (item.open && item.kind === 'control') for (const block of item.children) block.open = true;
  draw();
}

function line(table, name, value) {
  const row = table.insertRow();
  row.insertCell().textContent = name;
  row.insertCell().textContent = value;
}

function choose(item) {
  chosen = item;
  details.textContent = '';
  const title = details.appendChild(document.createElement('h3'));
  title.textContent = item.row ? item.row.name : item.label;
  const table = details.appendChild(document.createElement('table'));
  const row = item.row;
  if (row) {
    line(table, 'op', row.op + (row.function ? ' of ' + row.function : ''));
    for (const [name, type] of row.outputs) line(table, 'output', name + '  ' + type);
    for (const name of row.inputs) line(table, 'input', name);
    for (const name of row.controls || []) line(table, 'after', name);
    for (const [name, value] of Object.entries(row.attributes)) line(table, name, value);
    if (row.device) line(table, 'device', row.device);
    for (const where of row.lines || []) line(table, 'made at', where);
  } else {
    line(table, 'contains', items.filter(other => other.row && ancestors(other).includes(item))
      .length + ' nodes');
  }
  draw();
}

let scale = 1, offsetX = 20, offsetY = 20;
function move() { world.setAttribute('transform', `translate(${offsetX},${offsetY}) scale(${scale})`); }
function fit() {
  const box = view.getBoundingClientRect();
  scale = Math.min(1.5, box.width / (root.width + 40), box.height / (root.height + 40)) || 1;
  offsetX = (box.width - root.width * scale) / 2;
  offsetY = 20;
  move();
}
view.addEventListener('wheel', event => {
  event.preventDefault();
  const factor = Math.exp(-event.deltaY / 500);
  const box = view.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  offsetX = x - (x - offsetX) * factor;
  offsetY = y - (y - offsetY) * factor;
  scale *= factor;
  move();
}, {passive: false});
let dragging = null;
view.addEventListener('pointerdown', event => {
  dragging = [event.clientX - offsetX, event.clientY - offsetY];
});
window.addEventListener('pointermove', event => {
  if (!dragging) return;
  offsetX = event.clientX - dragging[0];
  offsetY = event.clientY - dragging[1];
  move();
});
window.addEventListener('pointerup', () => { dragging = null; });
document.getElementById('all').onclick = () => {
  for (const item of items) item.open = true;
  draw();
  fit();
};
document.getElementById('none').onclick = () => {
  for (const item of items) item.open = item === root;
  draw();
  fit();
};
document.getElementById('fit').onclick = fit;
document.getElementById('find').oninput = event => {
  const wanted = event.target.value;
  const found = wanted && items.find(item => item.row && item.row.name.includes(wanted));
  if (!found) return;
  for (const item of ancestors(found).slice(1)) item.open = true;
  choose(found);
};

addBlock(data.graph, root, null, 0);
dissolve(root);
if (items.length < 60) for (const item of items) item.open = true;
draw();
fit();
