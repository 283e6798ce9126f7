/// The Date field (RFC 9110 §6.6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Date;

impl Date {
    /// IMF-fixdate (RFC 9110 §5.6.7) of a Unix time in seconds, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    /// Times after the year 9999 give its last second.
    pub fn render(unix_secs: u64) -> [u8; 29] {
        let secs = unix_secs.min(LAST);
        let (days, time) = (secs / 86_400, (secs % 86_400) as u32);
        let (year, month, day) = civil(days as u32);
        let mut out = *b"Sun, 00 Jan 0000 00:00:00 GMT";
        // 1 January 1970 was a Thursday.
        out[..3].copy_from_slice(WEEKDAYS[((days + 4) % 7) as usize]);
        two(&mut out, 5, day);
        out[8..11].copy_from_slice(MONTHS[month as usize - 1]);
        two(&mut out, 12, year / 100);
        two(&mut out, 14, year % 100);
        two(&mut out, 17, time / 3_600);
        two(&mut out, 20, time / 60 % 60);
        two(&mut out, 23, time % 60);
        out
    }
}

/// 31 December 9999, 23:59:59.
const LAST: u64 = 253_402_300_799;
const WEEKDAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

fn two(out: &mut [u8; 29], at: usize, value: u32) {
    out[at] = b'0' + (value / 10) as u8;
    out[at + 1] = b'0' + (value % 10) as u8;
}

/// Year, month and day of a day number since 1970 in the Gregorian calendar, counted in years that start in March so
/// that the leap day comes last (Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: u32) -> (u32, u32, u32) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (era * 400 + year_of_era + u32::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn known_dates() {
        for (secs, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(String::from_utf8_lossy(&Date::render(secs)), text);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let month_days = |year: u32, month: usize| match month {
            1 if year.is_multiple_of(4)
                && (!year.is_multiple_of(100) || year.is_multiple_of(400)) =>
            {
                29
            }
            1 => 28,
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut day) = (1970, 0, 1);
        for number in 0..366 * 500_u64 {
            let text = Date::render(number * 86_400);
            let expected = format!(
                "{day:02} {} {year:04}",
                String::from_utf8_lossy(super::MONTHS[month])
            );
            assert_eq!(String::from_utf8_lossy(&text[5..16]), expected);
            day += 1;
            if day > month_days(year, month) {
                (day, month) = (1, month + 1);
            }
            if month == 12 {
                (month, year) = (0, year + 1);
            }
        }
    }
}
