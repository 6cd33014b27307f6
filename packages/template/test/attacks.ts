/** Prompts that try to take time or memory without an end. */

export const thousand = Array.from({ length: 1_000 }, (_, index) => index)
export const parameters = {
  s: 'x'.repeat(100_000),
  l: [1, 2, 3],
  list: thousand,
  huge: 'a'.repeat(2_000_000),
  wide: Array.from({ length: 200_000 }, (_, index) => index),
  objects: Array.from({ length: 20_000 }, (_, index) => ({ a: index, b: `text${index}` })),
}

export const each = (body: string): string => `{{ for a in list }}${body}{{ endfor }}`
const twice = (body: string): string => each(`{{ for b in list }}${body}{{ endfor }}`)
const doubled = (first: string, times: number): string => `{{ t = ${first} }}${'{{ t = t + t }}'.repeat(times)}`
const nested = (levels: number, wrap: string): string => `{{ o = [] }}${`{{ o = ${wrap} }}`.repeat(levels)}`

export const inBlocks = (depth: number, body: string): string =>
  `${'{{ if 1 }}'.repeat(depth)}${body}${'{{ endif }}'.repeat(depth)}`

export const attacks: Readonly<Record<string, string>> = {
  'a growing list': '{{ l = [1] }}{{ for x in l }}{{ l.push(x) }}{{ endfor }}',
  'nested loops': twice('{{ for c in list }}x{{ endfor }}'),
  'a doubled text': `${doubled('"xxxxxxxxxxxxxxxx"', 26)}{{ t }}`,
  'a doubled list': `{{ t = [1] }}${'{{ t = t.concat(t) }}'.repeat(28)}{{ t }}`,
  'a large output': `${doubled('"xxxxxxxxxxxxxxxx"', 17)}${'{{ t }}'.repeat(50)}`,
  'the case of a large text': `${doubled('"xxxxxxxxxxxxxxxx"', 18)}${each('{{ t.toUpperCase() }}')}`,
  'a split text': `${doubled('"xxxxxxxxxxxxxxxx"', 17)}{{ t.split("") }}`,
  'an object in itself': '{{ o = {} }}{{ o.self = o }}{{ o }}',
  'an object in itself as an attribute': '{{ o = {} }}{{ o.self = o }}<user meta={{ o }}>x</user>',
  'an object in itself over a step': '{{ o = {} }}{{ o.self = o }}<step>x</step>',
  'a deep attribute': `${nested(3_000, '[o]')}<user meta={{ o }}>x</user>`,
  'a deep list that is printed': `${nested(3_000, '[o]')}{{ o }}`,
  'a deep list that is joined': `${nested(3_000, '[o]')}{{ o.join() }}`,
  'a deep list over a step': `${nested(3_000, '[o]')}<step>x</step>`,
  'a diamond that is printed': `${nested(40, '[o, o]')}{{ o }}`,
  'a diamond that is joined': `${nested(40, '[o, o]')}{{ o.join() }}`,
  'a diamond that is flattened': `${nested(40, '[o, o]')}{{ o.flat(100).length }}`,
  'a diamond that is compared': `${nested(40, '[o, o]')}{{ o == "x" }}`,
  'a diamond as an attribute': `${nested(40, '[o, o]')}<user meta={{ o }}>x</user>`,
  'a list in itself that is flattened': '{{ l = [1] }}{{ l.push(l) }}{{ l.push(l) }}{{ l.flat(1000000) }}',
  'a text replaced by itself': '{{ s.replaceAll("", s) }}',
  'a text joined by itself': '{{ s.split("").join(s) }}',
  'signs in a replacement': `{{ s.replaceAll("x", "$'$'$'$'") }}`,
  'a long pattern': '{{ huge.indexOf(huge.slice(0, 30000) + "b" + huge.slice(0, 30000)) }}',
  'a long pattern from the end': '{{ huge.lastIndexOf("b" + huge.slice(0, 1000000)) }}',
  'a short pattern again and again': each('{{ huge.includes("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") }}'),
  'numbers in a language': twice('{{ a.toLocaleString("de", { style: "currency", currency: "EUR" }) }}'),
  'dates in a language': twice('{{ $now.toLocaleString("ja", { dateStyle: "full", timeStyle: "full" }) }}'),
  'many digits': twice('{{ 1.1.toFixed(100) }}'),
  'a printed list': each('{{ wide }}'),
  'printed objects': each('{{ objects }}'),
  'a joined list': each('{{ x = wide.join() }}'),
  'texts that are linked and read': each('{{ r = huge + a }}{{ x = r.at(0) }}'),
  'kept lists': `{{ t = [] }}${each('{{ t.push(wide.concat(a)) }}')}`,
  'kept objects': `{{ t = [] }}${twice('{{ t.push({ a: 1, b: 2, c: 3, d: 4 }) }}')}`,
  'kept entries': `{{ t = [] }}${each('{{ t.push(list.entries()) }}')}`,
  'kept pieces': `{{ t = [] }}${each('{{ t.push(s.split("x")) }}')}`,
  'spread objects': '{{ o = {} }}{{ for a in objects }}{{ o = { ...o, ...a } }}{{ endfor }}',
  'many messages': twice('<user>x</user>'),
  'many attributes': each(`<user ${Array.from({ length: 1_000 }, (_, at) => `a${at}`).join(' ')}>x</user>`),
  'many attributes of a scope': each(`<scope ${Array.from({ length: 1_000 }, (_, at) => `a${at}`).join(' ')}></scope>`),
  'names in nested blocks': inBlocks(190, each(`{{ x = [${'s,'.repeat(4_000)}] }}`)),
  'large attributes': each('<user meta={{ objects }}>x</user>'),
  'the front of a long list': twice('{{ wide.unshift(1) }}'),
  'a reversed list': each('{{ x = wide.reverse().length }}'),
  'a long locale':
    '{{ l = "en-v1234" }}{{ for a in list }}{{ l = l + "-v" + (1000 + a) }}{{ endfor }}{{ (1).toLocaleString(l) }}',
  'a joined name of a character': each('{{ r = huge + a }}{{ x = "a"[r] }}'),
  'a joined name of a member': each('{{ r = huge + a }}{{ x = objects[0][r] }}'),
  'the order of a joined text': each('{{ r = huge + a }}{{ x = r < "ab" }}'),
  'a text many times in an attribute': `<user a="${'{{ huge }}'.repeat(100)}">x</user>`,
  'equal long texts': `{{ h = huge + "a" }}{{ g = huge + "b" }}${twice('{{ x = h == g }}')}`,
  'a long number': each('{{ x = +huge }}'),
  'the characters of a text': '{{ for c in huge }}{{ c }}{{ endfor }}',
  'blank lines': `{{ n = "\\n  x" }}${'{{ n = n + n }}'.repeat(19)}<user>{{ n }}</user>`,
}
