/** Markdown as React elements: a closed list of tokens, everything else as the text that was written. */
import type { MarkedToken, Token, Tokens } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { withSigns } from './hidden-characters.ts'

/** Deeper nesting is shown as it was written. */
const mostDepth = 16
const hasHost = /^https?:$/

/** The elements of what marked's lexer has found. HTML and images are text, and links say where they lead. */
export function elementsOf(tokens: readonly Token[], depth = 0): ReactNode[] {
  return tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a text stay the same
    <Fragment key={at}>{depth < mostDepth ? elementOf(token as MarkedToken, depth) : withSigns(token.raw)}</Fragment>
  ))
}

function elementOf(token: MarkedToken, depth: number): ReactNode {
  const inner = (tokens: readonly Token[] | undefined, text: string) =>
    tokens ? elementsOf(tokens, depth + 1) : withSigns(text)
  switch (token.type) {
    case 'space':
      return null
    case 'paragraph':
      return <p>{inner(token.tokens, token.text)}</p>
    case 'heading':
      // Not a heading of the page: screen readers would list it among the parts of the screen.
      return <p data-heading={token.depth}>{inner(token.tokens, token.text)}</p>
    case 'list':
      return listOf(token, depth)
    case 'table':
      return tableOf(token, depth)
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <pre tabIndex={0}>
          <code>{withSigns(token.text)}</code>
        </pre>
      )
    case 'blockquote':
      return <blockquote>{inner(token.tokens, token.text)}</blockquote>
    case 'hr':
      return <hr />
    case 'text':
      return inner('tokens' in token ? token.tokens : undefined, token.text)
    case 'escape':
      return withSigns(token.text)
    case 'strong':
      return <strong>{inner(token.tokens, token.text)}</strong>
    case 'em':
      return <em>{inner(token.tokens, token.text)}</em>
    case 'del':
      return <del>{inner(token.tokens, token.text)}</del>
    case 'codespan':
      return <code>{withSigns(token.text)}</code>
    case 'br':
      return <br />
    case 'link':
      return linkOf(token, depth)
    default:
      return withSigns(token.raw)
  }
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const lines = items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items of a text stay the same
    <li key={at}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {elementsOf(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        depth + 1,
      )}
    </li>
  ))
  return ordered ? <ol {...(start !== '' && { start })}>{lines}</ol> : <ul>{lines}</ul>
}

function tableOf({ header, rows }: Tokens.Table, depth: number): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens, align }, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a text stay the same
      <Cell key={at} data-align={align}>
        {elementsOf(tokens, depth + 1)}
      </Cell>
    ))
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields are grouped
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div role="group" aria-label="Table" tabIndex={0} data-scrolls>
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a text stay the same
            <tr key={at}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The host follows the words, unless they are the address: words that only contain the host may lead elsewhere. Links of other kinds are text. */
function linkOf({ href, text, tokens, raw }: Tokens.Link, depth: number): ReactNode {
  const url = URL.canParse(href) ? new URL(href) : null
  if (!url || !(hasHost.test(url.protocol) || url.protocol === 'mailto:')) return withSigns(raw)
  const place = url.protocol === 'mailto:' ? url.pathname : url.host
  return (
    <>
      <a href={url.href} target="_blank" rel="noreferrer noopener">
        {elementsOf(tokens, depth + 1)}
      </a>
      {!isAddress(text, url, place) && <span data-host> ({withSigns(place)})</span>}
    </>
  )
}

/** Compares the words as they are written, because a parsed address has no look-alike letters and no user before its host. */
function isAddress(text: string, { protocol }: URL, place: string): boolean {
  const start = `${protocol}//${place}`
  return text === place || (text.startsWith(start) && /^([/?#]|$)/.test(text.slice(start.length)))
}
