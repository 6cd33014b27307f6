import type { ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import css from './styles/content.module.css'

const lineWidths = ['92%', '74%', '83%', '58%', '88%', '69%', '79%', '51%']

/** Grey lines, at most eight, in the place of text that is loading. Shows nothing for the first 200 ms. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div role="status" aria-label="Loading">
      {lineWidths.slice(0, lines).map((width) => (
        <svg key={width} className={css['skeleton']} width={width} aria-hidden="true" />
      ))}
    </div>
  )
}

/** An empty screen: one sentence, the action that fills it, and the command that does the same. */
export function Empty({ line, children }: { line: ReactNode; children?: ReactNode }) {
  return (
    <div className={css['empty']}>
      <p className={css['emptyLine']}>{line}</p>
      {children}
    </div>
  )
}

interface NoticeProps {
  tone?: 'red' | 'amber' | 'blue'
  /** Announced by screen readers at once. */
  urgent?: boolean
  /** Ways out for the user. */
  actions?: ReactNode
  children: ReactNode
}

/** A message about the state of its screen. */
export function Notice({ tone, urgent, actions, children }: NoticeProps) {
  return (
    <div className={css['notice']} data-tone={tone} role={urgent ? 'alert' : 'status'}>
      <div className={css['noticeText']}>{children}</div>
      {actions}
    </div>
  )
}

interface ErrorDetailsProps {
  code?: string | undefined
  requestId: string | null
}

/** The facts that a report to the operator needs. Renders nothing for errors that occurred in the page. */
export function ErrorDetails({ code, requestId }: ErrorDetailsProps) {
  if (!code && !requestId) return null
  return (
    <details className={css['details']}>
      <summary>Details</summary>
      {code && <code>{code}</code>} {requestId && <CopyButton text={requestId} label="Copy request id" />}
    </details>
  )
}
