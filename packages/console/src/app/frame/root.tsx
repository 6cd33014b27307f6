import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, Link, Outlet } from '@tanstack/react-router'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Failure } from '../failure.tsx'
import { usePreferences } from '../preferences.ts'
import css from './frame.module.css'
import { MissingPart, reload, reloadIfReachable, useStale } from './lines/upgrade.ts'

/** The theme and density that were chosen in this browser. The style sheet finds them with `:has()`. */
export function Root() {
  const { theme, density } = usePreferences()
  return (
    <div className={css['root']} data-theme={theme} data-density={density}>
      <Outlet />
    </div>
  )
}

/** In place of a screen that could not be loaded or has a fault. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const isStale = useStale()
  // Without this, a query that failed in the screen throws the same error again.
  const { reset: resetQueries } = useQueryErrorResetBoundary()
  const retry = () => {
    if (error instanceof MissingPart) return void reloadIfReachable()
    resetQueries()
    reset()
  }
  return (
    <div className={css['alone']}>
      <title>Not shown · stet</title>
      <h1 className={css['aloneTitle']} tabIndex={-1}>
        {isStale ? 'This screen belongs to the updated stet' : 'This screen cannot be shown'}
      </h1>
      {isStale ? (
        <Button look="primary" onClick={reload}>
          Reload
        </Button>
      ) : (
        <Failure error={error} onRetry={retry} />
      )}
    </div>
  )
}

export function NoPage() {
  return (
    <div className={css['alone']}>
      <title>No such page · stet</title>
      <h1 className={css['aloneTitle']} tabIndex={-1}>
        There is no page at this address
      </h1>
      <Link to="/" className={buttonClass()}>
        Open the console
      </Link>
    </div>
  )
}
