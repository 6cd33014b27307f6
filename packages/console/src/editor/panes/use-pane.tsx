import { base } from '../../app/session.ts'
import { cliLine, curlLines, sdkLines } from '../../runs/output/call-lines.ts'
import { join } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import type { Opened } from '../open-prompt.ts'
import css from './panes.module.css'

/** How this prompt is called from code. */
export function UsePane({ open }: { open: Opened }) {
  const { document, place, status } = open
  const server = base.href.replace(/\/$/, '')
  const isLive = status.kind === 'live'
  const call = {
    server,
    projectId: place.projectId,
    versionUuid: isLive ? 'live' : place.versionUuid,
    path: document.path,
    parameters: exampleValues(document),
    isObject: Boolean(document.config['schema']),
  }
  return (
    <div className={join(layout['apart'], css['pane'])}>
      {!isLive && <Notice>These lines call this version. Without the version, they call live.</Notice>}
      <h2 className={css['heading']}>TypeScript</h2>
      <Code text={sdkLines(call)} label="TypeScript" />
      <h2 className={css['heading']}>curl</h2>
      <Code text={curlLines(call)} label="curl command" />
      <h2 className={css['heading']}>Command line</h2>
      <Code text={cliLine(call)} label="stet command" />
    </div>
  )
}

/** A value for each parameter, by its declared type. */
function exampleValues({ parameters, config }: Opened['document']): Record<string, unknown> {
  const declared: Record<string, unknown> = Object(config['parameters'])
  const values: Record<string, unknown> = {
    number: 1,
    integer: 1,
    boolean: true,
    object: {},
    array: [],
    image: 'https://example.com/image.png',
    file: 'https://example.com/file.pdf',
  }
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { type }]) => [
      name,
      values[String(Object(declared[name]).type ?? type)] ?? '…',
    ]),
  )
}
