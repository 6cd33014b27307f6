import { useEffect, useState } from 'react'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** A time in the user's zone, with UTC in the tooltip. Today's times show the clock only. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`}>
      {timeText(date, new Date())}
    </time>
  )
}

/** What the clock says, read again after each interval: by default the milliseconds since 1970. */
export function useNow(intervalMs: number, clock: () => number = Date.now): number {
  const [now, setNow] = useState(clock)
  useEffect(() => {
    const timer = setInterval(() => setNow(clock()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs, clock])
  return now
}

/** A time as `Time` shows it. */
export function momentText(at: string): string {
  return timeText(new Date(at), new Date())
}

function timeText(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return clock.format(date)
  const form = date.getFullYear() === now.getFullYear() ? day : dayOfYear
  return `${form.format(date)}, ${clock.format(date)}`
}

const number = new Intl.NumberFormat()

export function countText(count: number): string {
  return number.format(count)
}

/** "1 prompt", "2 prompts". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${number.format(count)} ${count === 1 ? noun : plural}`
}

/** USD with two significant digits below a cent. An unknown price is never zero. */
export function costText(usd: number | null): string {
  if (usd === null) return 'no price'
  if (usd === 0) return '$0'
  if (usd >= 0.01) return `$${usd.toFixed(2)}`
  // Without an exponent, which small numbers have otherwise.
  const digits = 1 - Math.floor(Math.log10(usd))
  return `$${usd.toFixed(Math.min(digits, 20)).replace(/0+$/, '')}`
}

/** "420 ms", "3.2 s", "2 min 5 s". */
export function durationText(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** The instant in the user's zone, as the browser's field takes it. */
export function localInput(instant: string): string {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
