import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Notice } from '../ui/states.tsx'
import type { RunTrouble } from './follow-run.ts'
import css from './output.module.css'

interface RunFailureProps {
  trouble: RunTrouble
  /** Shows the place in the editor. */
  onLine?: ((path: string, line: number, column: number) => void) | undefined
  onRejoin: () => void
}

/** Why a run failed: the message, the run code, the line of the prompt, and the provider's own words. */
export function RunFailure({ trouble, onLine, onRejoin }: RunFailureProps) {
  const { message, code, at, provider, requestId, isLost } = trouble
  // The message of a provider's failure repeats the provider's words, which follow.
  const isRepeated = provider && message.includes(provider.words.slice(0, 100))
  const headline = isRepeated ? `${provider.name || 'The provider'} answered with an error.` : message
  return (
    <div className={css['failure']}>
      <Notice
        tone="red"
        urgent
        actions={
          <>
            {requestId && <CopyButton text={requestId} label="Copy request id" />}
            {isLost && <Button onClick={onRejoin}>Connect again</Button>}
          </>
        }
      >
        <span className={css['words']}>{headline}</span> {code && <code>{code}</code>}
        {at && (
          <div className={css['frame']}>
            {onLine ? (
              <button type="button" className={css['place']} onClick={() => onLine(at.path, at.line, at.column)}>
                {placeOf(at)}
              </button>
            ) : (
              placeOf(at)
            )}
            {at.frame && <pre className={css['frameText']}>{at.frame}</pre>}
          </div>
        )}
        {provider && (
          <blockquote className={css['quote']}>
            <p className={css['words']}>{provider.words}</p>
            <footer className={css['quiet']}>{[provider.name, provider.status].filter(Boolean).join(' · ')}</footer>
          </blockquote>
        )}
      </Notice>
    </div>
  )
}

function placeOf({ path, line, column }: NonNullable<RunTrouble['at']>): string {
  return `${path ? `${path}, ` : ''}line ${line}, column ${column}`
}
