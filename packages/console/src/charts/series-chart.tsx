import { type KeyboardEvent, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { usePreferences } from '../app/preferences.ts'
import { useMedia } from '../ui/watched.ts'
import { axisEnd, stepTicks, tickText } from './scale.ts'
import css from './series-chart.module.css'

export interface ChartLine {
  label: string
  /** For each step. Null leaves a gap. */
  values: readonly (number | null)[]
  color: 'blue' | 'red' | 'green' | 'amber'
  /** Lengths of dashes and gaps in pixels. Without them, the line is solid. */
  dash?: readonly number[]
  look: 'bars' | 'line'
}

export interface SeriesChartProps {
  label: string
  /** The starts of the steps in milliseconds, all of one length and without gaps. */
  steps: readonly number[]
  stepSeconds: number
  lines: readonly ChartLine[]
  /** Writes a value at the axis. */
  format: (value: number) => string
  /** Vertical lines, for example at publications, in the order of time. `at` is in milliseconds. */
  marks: readonly { at: number; label: string }[]
  /** The index of the step that is pointed at, in this chart or another one. */
  at: number | null
  onAt: (at: number | null) => void
  /** The step and its values in words. */
  text: (at: number) => string
  onOpen: (at: number) => void
}

/**
 * Lines or bars over time, drawn by uPlot. The chart is a slider over its steps: the arrows move along them, and ⏎ or a
 * click opens one. It is redrawn if the data or the theme changes.
 */
export default function SeriesChart(props: SeriesChartProps) {
  const { label, steps, stepSeconds, lines, marks, format, at, onAt, text, onOpen } = props
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const latest = useRef({ at, onAt })
  useEffect(() => {
    latest.current = { at, onAt }
  })
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colors that are read
  useEffect(() => {
    if (!box.current) return
    const { clientWidth: width, clientHeight: height } = box.current
    const onPoint = (index: number | null) => {
      if (index !== latest.current.at) latest.current.onAt(index)
    }
    const shown = { steps, stepSeconds, lines, marks, format }
    const plot = new uPlot(optionsOf(box.current, shown, onPoint), dataOf(shown), box.current)
    plot.setSize({ width, height })
    chart.current = plot
    pointAt(plot, shown, latest.current.at)
    const observer = new ResizeObserver(([entry]) => {
      if (entry) plot.setSize({ width: entry.contentRect.width, height: entry.contentRect.height })
    })
    observer.observe(box.current)
    return () => {
      observer.disconnect()
      plot.destroy()
      chart.current = null
    }
  }, [steps, stepSeconds, lines, marks, format, theme])
  useEffect(() => {
    if (chart.current) pointAt(chart.current, { steps, stepSeconds }, at)
  }, [at, steps, stepSeconds])
  const last = steps.length - 1
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') return onOpen(at ?? last)
    const next = { ArrowLeft: (at ?? steps.length) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key]
    if (next === undefined) return
    event.preventDefault()
    onAt(Math.min(Math.max(next, 0), last))
  }
  return (
    <div
      ref={box}
      className={css['chart']}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={text(at ?? last)}
      onKeyDown={onKeyDown}
      onClick={() => at !== null && onOpen(at)}
    />
  )
}

/** Changes when the colors of the page do. uPlot reads them once. */
function useTheme(): string {
  const { theme } = usePreferences()
  const isDark = useMedia('(prefers-color-scheme: dark)')
  const isForced = useMedia('(forced-colors: active)')
  return `${theme} ${isDark} ${isForced}`
}

type Shown = Pick<SeriesChartProps, 'steps' | 'stepSeconds' | 'lines' | 'marks' | 'format'>

/** A value is drawn in the middle of its step, so that the nearest one is always that of the step. */
const middleOf = (at: number, stepSeconds: number) => at + stepSeconds * 500

function dataOf({ steps, stepSeconds, lines }: Shown): uPlot.AlignedData {
  return [steps.map((at) => middleOf(at, stepSeconds)), ...lines.map(({ values }) => [...values])]
}

function pointAt(plot: uPlot, { steps, stepSeconds }: Pick<Shown, 'steps' | 'stepSeconds'>, at: number | null): void {
  const step = at === null ? undefined : steps[at]
  const left = step === undefined ? -10 : plot.valToPos(middleOf(step, stepSeconds), 'x')
  plot.setCursor({ left, top: left < 0 ? -10 : 0 }, false)
}

function optionsOf(box: HTMLElement, shown: Shown, onPoint: (index: number | null) => void): uPlot.Options {
  const { steps, stepSeconds, lines, marks, format } = shown
  const color = colorsOf(box)
  const { fontSize, fontFamily } = getComputedStyle(box)
  const font = `${Number.parseFloat(fontSize) * 0.86}px ${fontFamily}`
  const first = steps[0] ?? 0
  const end = (steps.at(-1) ?? 0) + stepSeconds * 1000
  const ink = color('ink-2')
  return {
    width: 300,
    height: 100,
    padding: [marks.length > 0 ? 18 : 8, 8, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [first, end] },
      y: { range: (_, _min, max) => [0, axisEnd(max)] },
    },
    axes: [
      {
        ...{ stroke: ink, font, size: 28, grid: { show: false } },
        ticks: { stroke: color('hairline'), size: 4, width: 1 },
        splits: (plot) => stepTicks(steps, stepSeconds, Math.max(2, plot.width / 84)),
        values: (_, splits) => splits.map((at) => tickText(at, stepSeconds)),
      },
      {
        ...{ stroke: ink, font, size: 62, space: 36, ticks: { show: false } },
        grid: { stroke: color('hairline'), width: 1 },
        values: (_, splits) => splits.map(format),
      },
    ],
    series: [{}, ...lines.map((line) => seriesOf(line, color(line.color)))],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: {
      setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, marks, { font, color: ink })],
    },
  }
}

function seriesOf({ label, dash, look }: ChartLine, color: string): uPlot.Series {
  const line: uPlot.Series = { label, stroke: color, width: 1.75, points: { size: 5, fill: color } }
  if (dash) line.dash = [...dash]
  if (look === 'line') return line
  const paths = uPlot.paths.bars?.({ size: [0.7, 40] })
  return { ...line, fill: color, width: 0, points: { show: false }, ...(paths && { paths }) }
}

/** Reads a color of the style sheet in a form that the canvas accepts, which does not support `light-dark()`. */
function colorsOf(box: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = box.appendChild(document.createElement('i'))
    probe.style.color = `var(--${name})`
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

/** A dashed line for each mark. A label that would cover that of a later mark is left out. */
function drawMarks(plot: uPlot, marks: Shown['marks'], { font, color }: { font: string; color: string }): void {
  const { ctx, bbox } = plot
  const ratio = plot.ctx.canvas.width / plot.width
  let free = ctx.canvas.width
  ctx.save()
  Object.assign(ctx, { strokeStyle: color, fillStyle: color, lineWidth: ratio, textAlign: 'center' })
  ctx.font = font.replace(/^[\d.]+/, (size) => String(Number(size) * ratio))
  ctx.setLineDash([2 * ratio, 3 * ratio])
  for (const { at, label } of marks.toReversed()) {
    const x = Math.round(plot.valToPos(at, 'x', true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const half = ctx.measureText(label).width / 2
    const middle = Math.min(x, ctx.canvas.width - half)
    if (middle + half > free) continue
    ctx.fillText(label, middle, bbox.top - 5 * ratio)
    free = middle - half - 6 * ratio
  }
  ctx.restore()
}
