import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, Outlet } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../failure.tsx'
import { usePreferences } from '../preferences.ts'
import css from './frame.module.css'
import { isOutage, onOutageEnd } from './lines/connection.ts'
import { MissingPart, reload, reloadIfReachable, useStale } from './lines/upgrade.ts'
import { Alone } from './missing.tsx'

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
  const isWaiting = isOutage(error)
  const retryAfter = useEffectEvent(retry)
  useEffect(() => (isWaiting ? onOutageEnd(() => retryAfter()) : undefined), [isWaiting])
  if (isWaiting) return <Alone title="Waiting" heading="This screen opens when the server answers" />
  return (
    <Alone
      title="Not shown"
      heading={isStale ? 'This screen needs the updated console' : 'This screen cannot be shown'}
    >
      {isStale ? (
        <Button look="primary" onClick={reload}>
          Reload
        </Button>
      ) : (
        <Failure error={error} onRetry={retry} />
      )}
    </Alone>
  )
}
