import { lexer } from 'marked'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { elementsOf } from './markdown-elements.tsx'

const htmlOf = (text: string) => renderToStaticMarkup(elementsOf(lexer(text)))

test('the usual parts of an answer become elements', () => {
  expect(htmlOf('# Refund\n\nWe **are** *very* ~~not~~ `sorry`')).toBe(
    '<p data-heading="1">Refund</p><p>We <strong>are</strong> <em>very</em> <del>not</del> <code>sorry</code></p>',
  )
  expect(htmlOf('3. one\n4. two\n   - [x] done')).toContain('<ol start="3"><li>one</li><li>two')
  expect(htmlOf('- [x] done')).toBe('<ul><li>☑ done</li></ul>')
  expect(htmlOf('| a | b |\n|--|-:|\n| 1 | 2 |')).toContain('<th data-align="right">b</th>')
  expect(htmlOf('```js\na < b\n```\n\n> quoted\n\n---')).toBe(
    '<pre tabindex="0"><code>a &lt; b</code></pre><blockquote><p>quoted</p></blockquote><hr/>',
  )
})

test('a link names its host, and only web and mail addresses are links', () => {
  expect(htmlOf('[bank](https://evil.example/login)')).toBe(
    '<p><a href="https://evil.example/login" target="_blank" rel="noreferrer noopener">bank</a>' +
      '<span data-host="true"> (evil.example)</span></p>',
  )
  expect(htmlOf('https://example.com/a')).not.toContain('data-host')
  for (const words of [
    'evil.example bank.example',
    'https://bank.example/evil.example',
    'https://evil.example@bank.example',
  ])
    expect(htmlOf(`[${words}](https://evil.example/)`)).toContain('data-host')
  expect(htmlOf('[evil.example](https://evil.example/)')).not.toContain('data-host')
  expect(htmlOf('[write](mailto:ana@example.com)')).toContain('(ana@example.com)')
  for (const address of ['javascript:alert(1)', 'data:text/html,x', '/settings/keys', 'vbscript:x', 'file:///etc'])
    expect(htmlOf(`[x](${address})`)).not.toContain('<a')
})

test('markup, images and hidden characters stay text', () => {
  const hostile = '<script>x</script>\n\ntext <img src=x onerror=y> ![pixel](https://x.example/p.png) \u202eabc'
  const html = htmlOf(hostile)
  expect(html).not.toMatch(/<(script|img|b)\b/)
  expect(html).toContain('&lt;script&gt;x&lt;/script&gt;')
  expect(html).toContain('![pixel](https://x.example/p.png)')
  expect(html).not.toContain('\u202e')
})

test('nesting beyond the limit is shown as it was written', () => {
  const html = htmlOf(`${'> '.repeat(60)}deep`)
  expect(html.match(/<blockquote>/g)?.length).toBeLessThan(20)
  expect(html).toContain('&gt; deep')
})
