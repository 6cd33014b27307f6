import type { RefObject } from 'react'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import type { Opened } from '../open-prompt.ts'
import { withParameter } from '../text/front-matter.ts'
import { type GoTo, placeOf } from '../text/line-ends.ts'
import { usesOf } from '../text/scan.ts'
import { ConfigTree } from './config-tree.tsx'
import css from './panes.module.css'

interface ParametersPaneProps {
  open: Opened
  goTo: RefObject<GoTo | null>
}

/** What a prompt takes and gives: its inputs, the schema of its answer, and its tools. */
export function ParametersPane({ open, goTo }: ParametersPaneProps) {
  const { schema, tools } = open.document.config
  return (
    <div className={css['pane']}>
      <Inputs open={open} goTo={goTo} />
      {schema !== undefined && <ConfigTree of="schema" label="Schema of the answer" {...{ open, goTo }} />}
      {tools !== undefined && <ConfigTree of="tools" label="Tools" {...{ open, goTo }} />}
    </div>
  )
}

/** The inputs that the prompt declares, and variables that it uses without a declaration. */
function Inputs({ open, goTo }: ParametersPaneProps) {
  const { document, text, blocked, buffer } = open
  const declared = declaredIn(document.config)
  const names = [...new Set([...Object.keys(declared), ...Object.keys(document.parameters)])]
  if (names.length === 0)
    return (
      <p className={css['quiet']}>
        This prompt has no inputs. Write <code>{'{{ name }}'}</code> in the text to make one.
      </p>
    )
  return (
    <ul className={css['list']}>
      {names.map((name) => (
        <li key={name} className={css['item']}>
          <div className={css['row']}>
            <code className={css['name']}>{name}</code>
            {Object.hasOwn(declared, name) ? (
              <Facts declaration={declared[name]} />
            ) : (
              <>
                <Chip tone="amber">not declared</Chip>
                <span className={css['end']}>
                  <Button
                    look="quiet"
                    blocked={blocked}
                    onClick={() => open.edit(withParameter(buffer.state.text, name))}
                  >
                    Declare
                  </Button>
                </span>
              </>
            )}
          </div>
          <Uses {...{ text, name, goTo }} />
        </li>
      ))}
    </ul>
  )
}

function Facts({ declaration }: { declaration: unknown }) {
  const { type, required, description, default: fallback } = Object(declaration)
  return (
    <>
      <span className={css['quiet']}>{typeof type === 'string' ? type : 'text'}</span>
      {required === true && <Chip tone="blue">required</Chip>}
      {fallback !== undefined && <Chip>default {JSON.stringify(fallback)}</Chip>}
      {typeof description === 'string' && <p className={css['description']}>{description}</p>}
    </>
  )
}

function Uses({ text, name, goTo }: { text: string; name: string; goTo: RefObject<GoTo | null> }) {
  const uses = usesOf(text, name)
  if (uses.length === 0) return <p className={css['quiet']}>Not used in this text</p>
  return (
    <p className={css['uses']}>
      {uses.slice(0, 12).map(({ from }) => {
        const place = placeOf(text, from)
        return (
          <button key={from} type="button" className={css['place']} onClick={() => goTo.current?.(place)}>
            {place.line}:{place.column}
          </button>
        )
      })}
      {uses.length > 12 && <span className={css['quiet']}>and {uses.length - 12} more</span>}
    </p>
  )
}

/** The declarations in the front matter. The response's `parameters` reduce their types to three. */
function declaredIn(config: Record<string, unknown>): Record<string, unknown> {
  const { parameters } = config
  return typeof parameters === 'object' && parameters !== null ? { ...parameters } : {}
}
