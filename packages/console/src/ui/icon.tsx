/** Strokes on a 16 px grid, 1.5 px wide. */
const strokes = {
  prompts: 'M3.5 2.5h6l3 3v8h-9zM9.5 2.500v3h3M6 8.500h4M6 11h3',
  history: 'M2.5 8a5.500 5.500 0 1 0 1.700-4M2.500 2.500v2.500H5M8 5v3.200l2.200 1.300',
  overview: 'M2.500 2.500v11h11M5.500 11V8.500M8.500 11V5M11.500 11V7',
  settings: 'M3 4.500h5M11 4.500h2M3 11.500h2M8 11.500h5M9.500 3v3M6.500 10v3',
  changes: 'M5 2.500v7M2.500 6h5M9 12.500h4.500M3.500 13.500h3',
  more: 'M3.200 8h.1M8 8h.1M12.700 8h.1',
  down: 'M4.500 6.500 8 10l3.500-3.500',
  right: 'M6.500 4.500 10 8l-3.500 3.500',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3.500 8.500l3 3 6-7',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500l3 3',
  run: 'M5 3.500v9l7-4.500z',
  stop: 'M4.500 4.500h7v7h-7z',
  folder: 'M2.500 4h4l1.500 1.500h5.500v7h-11z',
  agent: 'M8 2.500v2M4 4.500h8v6H4zM6.200 7h.1M9.700 7h.1M5.500 13.500h5',
  warning: 'M8 2.500 14 13H2zM8 6.500v3M8 11.300v.1',
  external: 'M9.500 2.500h4v4M13.500 2.500l-6 6M11.500 9.500v4h-9v-9h4',
  draft: 'M10.500 3l2.500 2.500L6 12.500l-3 .500.500-3zM9 4.500 11.500 7',
  person: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM3 13.500c.5-2.500 2.300-3.800 5-3.800s4.500 1.300 5 3.800',
  updown: 'M5 6.500 8 3.500l3 3M5 9.500l3 3 3-3',
  back: 'M9.500 4.500 6 8l3.500 3.500',
} as const

export type IconName = keyof typeof strokes

/**
 * A small drawing beside words, as large as they are. It is hidden from screen readers: the words or an `aria-label`
 * have the meaning.
 */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const side = `${size / 16}rem`
  return (
    <svg
      width={side}
      height={side}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={strokes[name]} />
    </svg>
  )
}
