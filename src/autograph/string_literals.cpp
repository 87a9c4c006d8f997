#include "autograph/string_literals.h"

#include <algorithm>

namespace graphwright::autograph {
namespace {

// One code point of (possibly surrogate-carrying) UTF-8.
uint32_t decode(const std::string& s, size_t* at) {
  unsigned char c = s[(*at)++];
  int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
  uint32_t point = more == 3 ? c & 7 : more == 2 ? c & 15 : more == 1 ? c & 31 : c;
  for (; more > 0 && *at < s.size(); --more) point = point << 6 | (s[(*at)++] & 63);
  return point;
}

std::string hex(uint32_t value, int digits) {
  std::string result(digits, '0');
  for (int i = digits - 1; i >= 0; --i, value >>= 4) result[i] = "0123456789abcdef"[value & 15];
  return result;
}

std::string escape(uint32_t point) {
  switch (point) {
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (point < 0x100) return "\\x" + hex(point, 2);
  if (point < 0x10000) return "\\u" + hex(point, 4);
  return "\\U" + hex(point, 8);
}

bool printable(const NodeTable& t_, uint32_t point) {
  if (point < 0x80) return point >= 32 && point != 127;
  return t_.nonprintable.find(point) == t_.nonprintable.end();
}

}  // namespace

const std::vector<std::string>& all_quotes() {
  static const std::vector<std::string> quotes = {"'", "\"", "\"\"\"", "'''"};
  return quotes;
}

const std::vector<std::string>& multi_quotes() {
  static const std::vector<std::string> quotes = {"\"\"\"", "'''"};
  return quotes;
}

std::pair<std::string, std::vector<std::string>> string_literal(
    const NodeTable& t_, const std::string& text, const std::vector<std::string>& quote_types,
    bool escape_special_whitespace) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    uint32_t point = decode(text, &at);
    bool keep = !escape_special_whitespace && (point == '\n' || point == '\t');
    if (!keep && (point == '\\' || !printable(t_, point))) {
      escaped += escape(point);
    } else {
      escaped.append(text, start, at - start);
    }
  }
  bool multi_line = escaped.find('\n') != std::string::npos;
  std::vector<std::string> possible;
  for (const std::string& quote : quote_types) {
    if (multi_line && quote.size() == 1) continue;
    if (escaped.find(quote) != std::string::npos) continue;
    possible.push_back(quote);
  }
  if (possible.empty()) {
    std::string repr = string_repr(t_, text);
    std::string quote(1, repr[0]);
    for (const std::string& candidate : quote_types) {
      if (candidate.find(repr[0]) != std::string::npos) {
        quote = candidate;
        break;
      }
    }
    return {repr.substr(1, repr.size() - 2), {quote}};
  }
  if (!escaped.empty()) {
    std::stable_sort(possible.begin(), possible.end(),
                     [&](const std::string& a, const std::string& b) {
                       return (a[0] == escaped.back()) < (b[0] == escaped.back());
                     });
    if (possible[0][0] == escaped.back()) escaped.insert(escaped.size() - 1, "\\");
  }
  return {escaped, possible};
}

std::string avoid_backslash_literal(const NodeTable& t_, const std::string& text,
                                    const std::vector<std::string>& quotes) {
  auto [inside, quote_types] = string_literal(t_, text, quotes, false);
  return quote_types[0] + inside + quote_types[0];
}

std::string bytes_repr(const std::string& bytes) {
  bool has_single = bytes.find('\'') != std::string::npos;
  char quote = has_single && bytes.find('"') == std::string::npos ? '"' : '\'';
  std::string out = "b";
  out += quote;
  for (unsigned char c : bytes) {
    if (c == static_cast<unsigned char>(quote)) {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\\' || c < 32 || c >= 127) {
      out += escape(c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + quote;
}

std::string string_repr(const NodeTable& table, const std::string& text) {
  bool single = text.find('\'') != std::string::npos;
  char quote = single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    uint32_t point = decode(text, &at);
    if (point == static_cast<uint32_t>(quote)) {
      out += '\\';
      out += quote;
    } else if (point == '\\' || point < 32 || point == 127 ||
               (point >= 0x80 && table.nonprintable.count(point) != 0)) {
      out += escape(point);
    } else {
      out.append(text, start, at - start);
    }
  }
  return out + quote;
}

}  // namespace graphwright::autograph
