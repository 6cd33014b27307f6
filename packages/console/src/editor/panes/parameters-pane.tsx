import type { RefObject } from 'react'
import { Button, join } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import layout from '../../ui/styles/layout.module.css'
import type { Opened } from '../open-prompt.ts'
import { type GoTo, placeOf } from '../text/line-ends.ts'
import { useYaml } from '../text/load-yaml.ts'
import { usesOf } from '../text/scan.ts'
import css from './panes.module.css'

interface ParametersPaneProps {
  open: Opened
  goTo: RefObject<GoTo | null>
}

/** The inputs that the prompt declares, and variables that it uses without a declaration. */
export function ParametersPane({ open, goTo }: ParametersPaneProps) {
  const { document, text, buffer } = open
  const yaml = useYaml()
  const blocked = open.blocked ?? (yaml ? null : 'the parameters are loading')
  const declared = declaredIn(document.config)
  const names = [...new Set([...Object.keys(declared), ...Object.keys(document.parameters)])]
  if (names.length === 0)
    return (
      <div className={join(layout['apart'], css['pane'])}>
        <p className={layout['faint']}>
          This prompt has no inputs. Write <code>{'{{ name }}'}</code> in the text to make one.
        </p>
      </div>
    )
  return (
    <div className={join(layout['apart'], css['pane'])}>
      <ul className={css['list']}>
        {names.map((name) => (
          <li key={name} className={css['item']}>
            <div className={layout['row']}>
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
                      onClick={() => yaml && open.edit(yaml.withParameter(buffer.state.text, name))}
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
    </div>
  )
}

/** A declaration may be the name of its type only. */
function Facts({ declaration }: { declaration: unknown }) {
  const { type = declaration, required, description, default: fallback } = Object(declaration)
  return (
    <>
      <span className={layout['faint']}>{typeof type === 'string' ? type : 'text'}</span>
      {required === true && <Chip tone="blue">required</Chip>}
      {fallback !== undefined && <Chip>default {JSON.stringify(fallback)}</Chip>}
      {typeof description === 'string' && <p className={css['description']}>{description}</p>}
    </>
  )
}

function Uses({ text, name, goTo }: { text: string; name: string; goTo: RefObject<GoTo | null> }) {
  const uses = usesOf(text, name)
  if (uses.length === 0) return <p className={layout['faint']}>Not used in this text</p>
  return (
    <p className={layout['row']}>
      {uses.slice(0, 12).map(({ from }) => {
        const place = placeOf(text, from)
        return (
          <button key={from} type="button" className={css['place']} onClick={() => goTo.current?.(place)}>
            {place.line}:{place.column}
          </button>
        )
      })}
      {uses.length > 12 && <span className={layout['faint']}>and {uses.length - 12} more</span>}
    </p>
  )
}

/** The declarations in the front matter. The response's `parameters` reduce their types to three. */
function declaredIn(config: Record<string, unknown>): Record<string, unknown> {
  const { parameters } = config
  return typeof parameters === 'object' && parameters !== null ? { ...parameters } : {}
}
