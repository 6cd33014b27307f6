import { use } from 'react'
import { Button } from '../ui/button.tsx'
import { withSigns } from '../ui/hidden-characters.ts'
import { ErrorDetails, Notice } from '../ui/states.tsx'
import layout from '../ui/styles/layout.module.css'
import type { RunTrouble } from './follow-run.ts'
import css from './output/output.module.css'
import { RunPlaceContext } from './run-place.ts'

interface RunFailureProps {
  trouble: RunTrouble
  onRejoin: () => void
}

/** Why a run failed: the message, the line of the prompt, and the provider's own words. */
export function RunFailure({ trouble, onRejoin }: RunFailureProps) {
  const { onLine } = use(RunPlaceContext)
  const { message, code, at, provider, requestId, isLost } = trouble
  // The message of a provider's failure repeats the provider's words, which follow.
  const isRepeated = provider && message.includes(provider.words.slice(0, 100))
  const headline = isRepeated ? `${provider.name || 'The provider'} returned an error.` : message
  return (
    <div className={css['failure']}>
      <Notice tone="red" urgent actions={isLost && <Button onClick={onRejoin}>Reconnect</Button>}>
        <span className={css['words']}>{withSigns(headline)}</span>
        {at && (
          <div className={css['frame']}>
            <button type="button" className={css['place']} onClick={() => onLine(at.path, at.line, at.column)}>
              {placeOf(at)}
            </button>
            {at.frame && <pre className={css['frameText']}>{withSigns(at.frame)}</pre>}
          </div>
        )}
        {provider && (
          <blockquote className={css['quote']}>
            <p className={css['words']}>{withSigns(provider.words)}</p>
            <footer className={layout['small']}>{[provider.name, provider.status].filter(Boolean).join(' · ')}</footer>
          </blockquote>
        )}
        <ErrorDetails code={code} requestId={requestId} />
      </Notice>
    </div>
  )
}

function placeOf({ path, line, column }: NonNullable<RunTrouble['at']>): string {
  return `${path ? `${path}, ` : ''}line ${line}, column ${column}`
}
