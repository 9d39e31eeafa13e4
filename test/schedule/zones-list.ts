/** The zones whose changes of the clocks are looked at, and the years: 2016 to 2026, and those with a fault to find. */

/** Zone → years from the first to the last. */
export const ZONE_YEARS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  // Summer time all year but Ramadan, when the clocks go back and forth again.
  'Africa/Casablanca': [[2016, 2026]],
  'America/Los_Angeles': [[2016, 2026]],
  'America/New_York': [[2016, 2026]],
  // Changed at midnight, until 2019.
  'America/Sao_Paulo': [[2010, 2020]],
  // Changed at a minute past midnight, until 2011.
  'America/St_Johns': [
    [2007, 2011],
    [2016, 2026],
  ],
  'Asia/Kolkata': [[2016, 2026]],
  // Changed at midnight, until 2022.
  'Asia/Tehran': [[2016, 2026]],
  'Atlantic/Azores': [[2016, 2026]],
  // By half an hour.
  'Australia/Lord_Howe': [[2016, 2026]],
  'Australia/Sydney': [[2016, 2026]],
  'Europe/Amsterdam': [[2016, 2026]],
  'Europe/Berlin': [[2016, 2026]],
  'Europe/Lisbon': [[2016, 2026]],
  'Europe/Rome': [[2016, 2026]],
  // Left out 30 December 2011.
  'Pacific/Apia': [[2010, 2021]],
  // At 02:45 and 03:45.
  'Pacific/Chatham': [[2016, 2026]],
  UTC: [[2016, 2026]],
};

export const ZONES: readonly string[] = Object.keys(ZONE_YEARS);
/** Those whose clocks are never changed. */
export const CALM_ZONES: readonly string[] = ['Asia/Kolkata', 'UTC'];
