// SPDX-License-Identifier: Apache-2.0
// Measures the error of a global search if slices are thick: a head of thin slices is moved by known rotations in and out of the slices'
// plane, and then each slice of both images becomes the mean of several.
//   GlobalSlices HEAD [OTHER] [--thickness A,B,…] [--device NAME] [--threads N] [--cost A,B,…] [--dof N] [--degrees A,B,…]
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "Head.h"
#include "MeanShrink.h"
#include "Table.h"
#include "Volume.h"

#include "itkGlobalAffineRegistrationMethod.h"
#include "itkMath.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using bench::Format;
using example::Volume;
using Method = itk::GlobalAffineRegistrationMethod<Volume, Volume>;
using Affine = itk::AffineTransform<double, 3>;

constexpr char Usage[] =
  "Usage: GlobalSlices HEAD [OTHER] [--thickness A,B,...] [--device NAME] [--threads N] [--cost A,B,...] [--dof N]\n"
  "                    [--degrees A,B,...]\n";

constexpr char Help[] =
  R"(HEAD, or OTHER, which is in register with it, is moved, and both images are given slices that are the mean of so many of
HEAD's along its last axis.
  --thickness  of HEAD's slices that a thick one is the mean of; default: 1,5,10
  --degrees    rotations about each axis, of which x and y lead out of the slices' plane; default: 0,10,30,90
error          the mean in the head, mm: of the search, and of what the same cost leads to from the truth. If the search ends at a
               higher cost than that, it has missed something; if not, the cost is the lower one away from the truth.
)";

void
PrintHelp()
{
  std::cout << Usage << Help;
}

Volume::Pointer
MakeThick(const Volume * image, unsigned int slices)
{
  itk::FixedArray<unsigned int, 3> factors(1u);
  factors[2] = slices;
  return bench::ShrinkByMeans(image, factors);
}

Affine::Pointer
MakeTruth(const Volume::PointType & centre, unsigned int axis, double degrees)
{
  itk::Vector<double, 3> about(0.0);
  about[axis] = 1;
  const auto             truth = Affine::New();
  itk::Vector<double, 3> shift;
  // Part of a slice, for any thickness.
  shift[0] = 7.3;
  shift[1] = -11.6;
  shift[2] = 3.7;
  truth->SetCenter(centre);
  truth->Rotate3D(about, degrees * itk::Math::pi_over_180);
  truth->Translate(shift);
  return truth;
}

struct Outcome
{
  double error;
  double cost;
};

Outcome
Search(Method & method, const Affine * truth, const std::vector<Volume::PointType> & head)
{
  method.Update();
  return { example::Compare(method.GetTransform(), truth, head).mean, method.GetFinalCost() };
}

int
Run(const example::CommandLine & line)
{
  if (line.GetWords().empty() || line.GetWords().size() > 2)
  {
    throw std::invalid_argument("One image of a head is wanted, or two in register.");
  }
  const bench::Hardware hardware = bench::ChooseHardware(line);
  const auto            fixed = example::ReadVolume(line.GetWords()[0]);
  const auto            other = example::ReadVolume(line.GetWords().back());
  const auto            head = example::FindHead(fixed);
  const auto            centre = example::GetCentre(head);
  auto                  larger = fixed->GetLargestPossibleRegion().GetSize();
  for (auto & voxels : larger)
  {
    voxels = voxels * 13 / 10;
  }
  const auto grid = example::MakeCentredGrid(fixed, 1.0, larger);
  for (const auto & cost : bench::SplitAtCommas(line.Get("--cost", "CorrelationRatio")))
  {
    bench::Table table(cost + ", " + hardware.devices.front().GetName(),
                       { "slices", "axis", "degrees", "error, mm", "cost", "from the truth, mm", "cost" });
    for (const auto & thickness : bench::SplitAtCommas(line.Get("--thickness", "1,5,10")))
    {
      const auto slices = static_cast<unsigned int>(std::stoul(thickness));
      for (const unsigned int axis : { 2u, 0u, 1u })
      {
        for (const auto & degrees : bench::SplitAtCommas(line.Get("--degrees", "0,10,30,90")))
        {
          const auto truth = MakeTruth(centre, axis, std::stod(degrees));
          const auto moved = example::Resample(other, grid, truth->GetInverseTransform());
          const auto method = Method::New();
          method->SetDevice(hardware.devices.front());
          method->SetNumberOfWorkUnits(hardware.threads);
          method->SetFixedImage(MakeThick(fixed, slices));
          method->SetMovingImage(MakeThick(moved, slices));
          method->SetCost(cost);
          method->SetDegreesOfFreedom(line.GetNumber("--dof", 6));
          const Outcome found = Search(*method, truth, head);
          method->SetInitialTransform(truth);
          method->SetSearchAngles(0, 0);
          const Outcome refined = Search(*method, truth, head);
          table.AddRow({ thickness,
                         std::string(1, "xyz"[axis]),
                         degrees,
                         Format(found.error),
                         Format(found.cost),
                         Format(refined.error),
                         Format(refined.cost) });
        }
      }
    }
    table.Print(std::cout);
  }
  return EXIT_SUCCESS;
}
} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(bench::ReadOptions(
      argc, argv, {}, PrintHelp, { "--thickness", "--device", "--threads", "--cost", "--dof", "--degrees" }));
  };
  return example::RunProgram(body, Usage);
}
