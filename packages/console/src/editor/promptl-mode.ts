import {
  HighlightStyle,
  LanguageSupport,
  StreamLanguage,
  type StringStream,
  syntaxHighlighting,
} from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { tags } from '@lezer/highlight'

interface Mode {
  /** `start` lasts until the first line that decides whether there is front matter. */
  area: 'start' | 'front' | 'body'
  inside: 'comment' | 'markup-comment' | 'expression' | 'tag' | null
  /** The state after an expression: in the text, or in the tag whose attribute it is. */
  outer: 'tag' | null
  quote: string | null
  /** The name of the attribute before the value. */
  attribute: string
  depth: number
}

const language = StreamLanguage.define<Mode>({
  name: 'promptl',
  startState: () => ({ area: 'start', inside: null, outer: null, quote: null, attribute: '', depth: 0 }),
  token(stream, mode) {
    if (mode.inside === 'comment') return comment(stream, mode, '*/')
    if (mode.inside === 'markup-comment') return comment(stream, mode, '-->')
    if (mode.inside === 'expression') return expression(stream, mode)
    if (mode.inside === 'tag') return tag(stream, mode)
    if (mode.area === 'front') return frontMatter(stream, mode)
    if (mode.area === 'start') {
      if (stream.match(/^\uFEFF?\s*---/)) {
        mode.area = 'front'
        return 'meta'
      }
      if (!stream.match(/^\uFEFF?\s+/, false) && !stream.match(/^(\/\*|<!--)/, false)) mode.area = 'body'
    }
    return body(stream, mode)
  },
  languageData: { commentTokens: { block: { open: '/*', close: '*/' } } },
})

function body(stream: StringStream, mode: Mode): string | null {
  if (stream.match('/*')) return opened(mode, 'comment', 'comment')
  if (stream.match('<!--')) return opened(mode, 'markup-comment', 'comment')
  if (stream.match('{{')) {
    mode.depth = 0
    return opened(mode, 'expression', 'processingInstruction')
  }
  // Unknown tags are text for the model.
  if (
    stream.match(
      /^<\/?(?:system|user|assistant|tool|message|step|scope|prompt|content(?:-text|-image|-file)?|tool-call)(?=[\s/>]|$)/,
    )
  )
    return opened(mode, 'tag', 'tagName')
  if (stream.match(/^\\./)) return 'escape'
  stream.next()
  stream.match(/^[^{<\\/]+/)
  return null
}

function opened(mode: Mode, inside: Mode['inside'], style: string): string {
  mode.inside = inside
  return style
}

function comment(stream: StringStream, mode: Mode, end: string): string {
  if (stream.skipTo(end)) {
    stream.match(end)
    mode.inside = null
  } else stream.skipToEnd()
  return 'comment'
}

function tag(stream: StringStream, mode: Mode): string | null {
  if (mode.quote) {
    const style = mode.attribute === 'path' ? 'link' : 'string'
    if (stream.match('{{')) {
      mode.outer = 'tag'
      return opened(mode, 'expression', 'processingInstruction')
    }
    if (stream.eat(mode.quote)) mode.quote = null
    else if (!stream.match(/^(?:[^"'{]|\{(?!\{))+/)) stream.next()
    return style
  }
  if (stream.eatSpace()) return null
  if (stream.match(/^\/?>/)) return opened(mode, null, 'tagName')
  if (stream.match('{{')) {
    mode.outer = 'tag'
    return opened(mode, 'expression', 'processingInstruction')
  }
  if (stream.match(/^["']/)) {
    mode.quote = stream.current()
    return mode.attribute === 'path' ? 'link' : 'string'
  }
  const name = stream.match(/^[\w-]+/)
  if (name) {
    mode.attribute = stream.current()
    return 'attributeName'
  }
  stream.next()
  return null
}

function expression(stream: StringStream, mode: Mode): string | null {
  if (stream.eatSpace()) return null
  if (mode.depth === 0 && stream.match('}}')) {
    mode.inside = mode.outer
    mode.outer = null
    return 'processingInstruction'
  }
  if (stream.match(/^(?:if|else|endif|for|in|endfor)\b/)) return 'keyword'
  if (stream.match(/^(?:true|false|null|undefined)\b/)) return 'atom'
  if (stream.match(/^(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return 'string'
  if (stream.match(/^\d[\d.eE]*/)) return 'number'
  if (stream.match(/^[A-Za-z_$][\w$]*/)) return 'variableName'
  const next = stream.next()
  if (next === '{') mode.depth++
  if (next === '}') mode.depth = Math.max(0, mode.depth - 1)
  return 'operator'
}

function frontMatter(stream: StringStream, mode: Mode): string | null {
  if (stream.sol() && stream.match(/^\s*---/)) {
    mode.area = 'body'
    return 'meta'
  }
  if (stream.eatSpace()) return null
  if (stream.match(/^#.*/)) return 'comment'
  if (stream.match(/^(?:[\w$-]+|"[^"]*"|'[^']*')(?=\s*:(?:\s|$))/)) return 'propertyName'
  if (stream.match(/^(?:"(?:[^"\\]|\\.)*"|'[^']*')/)) return 'string'
  if (stream.match(/^-?\d+(?:\.\d+)?(?=[\s,}\]]|$)/)) return 'number'
  if (stream.match(/^(?:true|false|null)(?=[\s,}\]]|$)/)) return 'atom'
  if (stream.match(/^[[\]{},:]|^-(?=\s)/)) return 'punctuation'
  stream.match(/^[^\s,:{}[\]#]+/) || stream.next()
  return null
}

const style = HighlightStyle.define([
  { tag: tags.meta, color: 'var(--ink-2)' },
  { tag: tags.comment, color: 'var(--ink-2)', fontStyle: 'italic' },
  { tag: tags.propertyName, color: 'var(--ink-2)', fontWeight: '500' },
  { tag: [tags.string, tags.number, tags.atom], color: 'var(--ink)' },
  { tag: tags.punctuation, color: 'var(--ink-2)' },
  { tag: tags.tagName, color: 'var(--green)', fontWeight: '500' },
  { tag: tags.attributeName, color: 'var(--green)' },
  { tag: tags.link, color: 'var(--green)', textDecoration: 'underline' },
  { tag: [tags.processingInstruction, tags.variableName, tags.operator], color: 'var(--blue)' },
  { tag: tags.keyword, color: 'var(--amber)', fontWeight: '600' },
  { tag: tags.escape, color: 'var(--ink-2)' },
])

/** PromptL: front matter in YAML, tags, expressions, comments and references. */
export function promptl(): Extension {
  return [new LanguageSupport(language), syntaxHighlighting(style)]
}
