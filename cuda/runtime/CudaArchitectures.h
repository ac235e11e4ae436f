// SPDX-License-Identifier: Apache-2.0
// The GPUs for which a binary has code, without asking any GPU: a kernel can only be queried in a context, and listing devices must not
// make one.
#ifndef gpureg_CudaArchitectures_h
#define gpureg_CudaArchitectures_h

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace gpureg
{

/** One of the codes in a binary. Compute capability 9.0 is 90 here. */
struct CudaCode
{
  /** True for PTX, which the driver compiles when it is loaded; false for machine code. */
  bool isPtx;
  int  capability;
  /** 'a': for this capability only; 'f': for its family; 0: for neither. */
  char suffix;
};

/** Returns true if a code runs on a capability: machine code runs on its own capability and on later ones of the same major number, PTX
 *  on any later one. */
inline bool
RunsOn(const CudaCode & code, int capability)
{
  if (code.suffix == 'a')
  {
    return capability == code.capability;
  }
  const bool isSameMajor = capability / 10 == code.capability / 10;
  return capability >= code.capability && (isSameMajor || (code.isPtx && code.suffix != 'f'));
}

namespace detail
{
/** Adds the codes that one word of CMAKE_CUDA_ARCHITECTURES stands for. */
inline void
AddCudaCode(std::vector<CudaCode> & codes, const std::string & word, const std::vector<int> & compiled)
{
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const bool        hasSuffix = digits < word.size() && (word[digits] == 'a' || word[digits] == 'f');
  const std::string kind = word.substr(digits + (hasSuffix ? 1 : 0));
  if (digits > 0 && digits < 6 && (kind.empty() || kind == "-real" || kind == "-virtual"))
  {
    for (const bool isPtx : { false, true })
    {
      if (kind.empty() || (kind == "-virtual") == isPtx)
      {
        codes.push_back({ isPtx, std::stoi(word.substr(0, digits)), hasSuffix ? word[digits] : '\0' });
      }
    }
    return;
  }
  // For the other words the compiler chose the architectures. "native" is machine code for the GPUs of the machine that compiled; an
  // unknown word may stand for any code.
  const bool isAll = word == "all" || word == "all-major";
  for (const int capability : compiled)
  {
    codes.push_back({ false, capability, '\0' });
    if (!isAll && word != "native")
    {
      codes.push_back({ true, capability, '\0' });
    }
  }
  if (isAll && !compiled.empty())
  {
    codes.push_back({ true, *std::max_element(compiled.begin(), compiled.end()) / 10 * 10, '\0' });
  }
}
} // namespace detail

/** Returns the code that a binary contains.
 * \param architectures the words of CMAKE_CUDA_ARCHITECTURES, with colons between: "75-real:86:90-virtual".
 * \param compiled      the capabilities that the compiler says it compiled for, as machine code or as PTX. */
inline std::vector<CudaCode>
GetCudaCodes(const std::string & architectures, const std::vector<int> & compiled)
{
  std::vector<CudaCode> codes;
  for (std::size_t begin = 0; begin <= architectures.size();)
  {
    const std::size_t end = std::min(architectures.find(':', begin), architectures.size());
    detail::AddCudaCode(codes, architectures.substr(begin, end - begin), compiled);
    begin = end + 1;
  }
  return codes;
}

/** Returns a capability as text: 90 → "9.0". */
inline std::string
NameCapability(int capability)
{
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/** Returns the reason why none of the codes runs on a GPU, and a remedy; empty if one runs, or if the codes are unknown. */
inline std::string
FindWhyNoCodeRunsOn(const std::vector<CudaCode> & codes, int capability)
{
  if (codes.empty() ||
      std::any_of(codes.begin(), codes.end(), [&](const CudaCode & code) { return RunsOn(code, capability); }))
  {
    return "";
  }
  std::string lists[2];
  for (const CudaCode & code : codes)
  {
    std::string & list = lists[code.isPtx];
    list += (list.empty() ? "" : ", ") + NameCapability(code.capability) +
            (code.suffix != '\0' ? std::string(1, code.suffix) : "");
  }
  return "has compute capability " + NameCapability(capability) + ", and this library has no code for it: it has " +
         (lists[0].empty() ? "no machine code" : "machine code for " + lists[0]) + " and " +
         (lists[1].empty() ? "no PTX" : "PTX for " + lists[1]) +
         "; build it with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(capability) +
         ", or without that for all common GPUs";
}

} // namespace gpureg

#endif
